"""fairseq_xl: sequence models whose outputs are vectors, as a fairseq plugin.

``fairseq-train --user-dir fairseq_xl …`` imports this package, which makes fairseq 0.12.3 work on current Python
and registers every component. A script does the same with ``import fairseq_xl``.

``from fairseq_xl import Translator`` translates raw text with a model folder.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from fairseq_xl.translator import Translation, Translator

__all__ = ["Translation", "Translator", "register"]
__version__ = "0.1.0"


def register() -> None:
    """Make fairseq run here and register every component of the suite (idempotent)."""
    from fairseq_xl import compat

    compat.apply()
    from fairseq_xl import (  # noqa: F401  (importing registers)
        continuous,
        fused_adam,
        siamese,
    )


def __getattr__(name: str) -> Any:
    """``Translator`` and ``Translation``, imported when somebody asks for them."""
    if name not in ("Translation", "Translator"):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    register()
    from fairseq_xl import translator

    return getattr(translator, name)


# The `fairseq-xl` command starts in a blink and its `doctor` must run where fairseq is missing or broken: there
# the sub-commands that need fairseq call `register` themselves.
if Path(sys.argv[0] if sys.argv else "").name not in {"fairseq-xl", "fairseq-xl.exe"}:
    register()
