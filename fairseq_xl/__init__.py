"""fairseq_xl: sequence models whose outputs are vectors, as a fairseq plugin.

``fairseq-train --user-dir fairseq_xl …`` imports this package while fairseq is loaded, which makes fairseq 0.12.3 work
on current Python and registers every component. Otherwise importing it does nothing, and a script that uses fairseq
calls ``fairseq_xl.register()``. ``fairseq_xl.losses`` needs torch alone.

``from fairseq_xl import Translator`` translates raw text with a model folder, ``SentenceEncoder`` turns it into
vectors, ``TextClassifier`` gives it a class, and ``PairPredictor`` says how probable it is that two sentences mean the
same.
"""

from __future__ import annotations

import importlib
import logging
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from fairseq_xl.encode.encoder import SentenceEncoder
    from fairseq_xl.pairs.prediction.predictor import PairPredictor
    from fairseq_xl.siamese.prediction.classifier import TextClassifier
    from fairseq_xl.translation.translator import Translation, Translator

__all__ = ["PairPredictor", "SentenceEncoder", "TextClassifier", "Translation", "Translator", "register"]
__version__ = "0.1.0"

_HOMES = {
    "PairPredictor": "fairseq_xl.pairs.prediction.predictor",
    "SentenceEncoder": "fairseq_xl.encode.encoder",
    "TextClassifier": "fairseq_xl.siamese.prediction.classifier",
    "Translation": "fairseq_xl.translation.translator",
    "Translator": "fairseq_xl.translation.translator",
}
_LIGHT = ("Translation", "Translator")
"""What asks for fairseq itself, once it knows that it needs it: translating with an export does without."""
# Importing them registers models, tasks, criteria and optimisers with fairseq.
_COMPONENTS = (
    *("continuous.models.lstm", "continuous.models.transformer", "continuous.nearest.task", "continuous.criteria"),
    *("training.fused_adam", "training.halving"),
    *("pairs.models.criterion", "pairs.models.task"),
    *("pairs.models.decomposable", "pairs.models.esim", "pairs.models.infersent", "pairs.models.siamese"),
    *("siamese.models.criterion", "siamese.models.model", "siamese.models.task"),
    *("syntactic.models.criterion", "syntactic.models.model", "syntactic.models.task"),
)


def register(user_dir: str | os.PathLike[str] | None = None) -> None:
    """Make fairseq run here and register every component of the suite (idempotent).

    Args:
        user_dir: folder of a package of your own, which registers models or losses. It is imported, as by fairseq's
            ``--user-dir``.

    Raises:
        InputError: that package cannot be imported.
    """
    with _logging_left_alone():
        from fairseq_xl import compat

        compat.apply()
        for name in _COMPONENTS:
            importlib.import_module(f"fairseq_xl.{name}")
    if user_dir is not None:
        from fairseq_xl.training.user_dir import import_user_dir

        import_user_dir(user_dir)


def hush() -> None:
    """Keep the speech task, which fairseq imports with every other, from advising everybody to install tensorboardX,
    and onnxruntime from reporting to its maker and leaving files in the home folder as soon as it is imported."""
    os.environ.setdefault("ORT_DISABLE_TELEMETRY", "1")
    logging.getLogger("fairseq.tasks.text_to_speech").setLevel(logging.WARNING)


@contextmanager
def _logging_left_alone() -> Iterator[None]:
    """Undo what some of fairseq's modules do to everybody's logging when they are imported: show all, down to DEBUG.

    fairseq's commands set logging up before they import anything, and keep it.
    """
    hush()
    root = logging.getLogger()
    level, handlers = root.level, list(root.handlers)
    try:
        yield
    finally:
        root.setLevel(level)
        for handler in root.handlers[:]:
            if handler not in handlers:
                root.removeHandler(handler)


def __getattr__(name: str) -> Any:
    """What the package offers, imported when somebody asks for it."""
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    if name not in _LIGHT:
        register()
    return getattr(importlib.import_module(_HOMES[name]), name)


# fairseq's --user-dir imports this package while fairseq is loaded; whoever imports it before that calls `register`.
if sys.modules.get("fairseq") is not None:
    register()
