"""The paper's baselines and newer ones, by name; each learns from one language's labels alone.

A baseline is a function from :class:`Training` to a :class:`Classifier`, in a module of this folder, and a line of
``BASELINES``. The modules are imported when they are asked for.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    import numpy as np

BASELINES: dict[str, tuple[str, str]] = {
    "asv": ("classical:fit_asv", "ASV"),
    "mv-rnn": ("mvrnn:fit_mvrnn", "MV-RNN"),
    "dsc-t": ("classical:fit_dsc_t", "DSC-T (RF)"),
    "mnb-h": ("classical:fit_mnb_h", "MNB-H"),
    "bilstm-w": ("recurrent:fit_words", "Bi-LSTM (W)"),
    "bilstm-c": ("recurrent:fit_characters", "Bi-LSTM (C)"),
    "svm": ("classical:fit_svm", "TF-IDF char n-grams, SVM"),
    "fasttext": ("classical:fit_fasttext", "fastText supervised"),
    "st": ("classical:fit_st", "sentence-transformers"),
}
"""Name -> ``module:function``, and what reports call it."""


class Classifier(Protocol):
    """Class numbers (N,) of sentences."""

    def __call__(self, texts: Sequence[str]) -> np.ndarray: ...


@dataclass(frozen=True)
class Training:
    """What a baseline learns from: normalised texts with classes, for training and development.

    Attributes:
        more_text: unlabelled sentences for word vectors.
        model: name or folder of a sentence-transformers model, for ``st``.
        parses: bracketed trees of all texts, for ``mv-rnn``; see :mod:`mvrnn`.
        test_texts: what will be classified, where that is known; nothing is learnt from it.
    """

    texts: Sequence[str]
    labels: np.ndarray
    valid_texts: Sequence[str]
    valid_labels: np.ndarray
    classes: int
    seed: int
    more_text: Sequence[str] = ()
    model: str | None = None
    parses: Path | None = None
    test_texts: Sequence[str] = ()


def fit(name: str, data: Training) -> Classifier:
    """Train the baseline of this name.

    Raises:
        InputError: it needs what ``data`` has not, or a package that is not installed.
    """
    module, _, function = BASELINES[name][0].partition(":")
    train: Callable[[Training], Classifier] = getattr(importlib.import_module(f"{__name__}.{module}"), function)
    return train(data)
