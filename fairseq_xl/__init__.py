"""fairseq_xl: sequence models whose outputs are vectors, as a fairseq plugin.

``fairseq-train --user-dir fairseq_xl …`` imports this package, which makes fairseq 0.12.3 work on current Python
and registers every component. A script does the same with ``import fairseq_xl``.
"""

from __future__ import annotations

import sys
from pathlib import Path

__version__ = "0.1.0"


def register() -> None:
    """Make fairseq run here and register every component of the suite (idempotent)."""
    from fairseq_xl import compat

    compat.apply()
    from fairseq_xl import continuous, fused_adam  # noqa: F401  (importing registers)


# The `fairseq-xl` command starts in a blink and its `doctor` must run where fairseq is missing or broken: there
# the sub-commands that need fairseq call `register` themselves.
if Path(sys.argv[0] if sys.argv else "").name not in {"fairseq-xl", "fairseq-xl.exe"}:
    register()
