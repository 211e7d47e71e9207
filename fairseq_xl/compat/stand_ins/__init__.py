"""Python stand-ins for the extensions that an installation without a compiler lacks."""

from __future__ import annotations

import importlib
import sys

from fairseq_xl.compat.stand_ins import batching, token_blocks

_STAND_INS = {"fairseq.data.data_utils_fast": batching, "fairseq.data.token_block_utils_fast": token_blocks}


def stand_in_for_compiled_modules() -> None:
    """Supply fairseq's batching and text blocks where their compiled modules cannot be imported.

    Broken: a fairseq built without a compiler has neither, and then cannot make a single batch. A module that was
    compiled against another numpy fails with a ``ValueError``; it counts as absent, too.
    """
    for name, stand_in in _STAND_INS.items():
        try:
            importlib.import_module(name)
        except (ImportError, ValueError):
            sys.modules[name] = stand_in
