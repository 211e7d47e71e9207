"""Packages that only some steps need."""

from __future__ import annotations

import importlib
from types import ModuleType

from fairseq_xl.io.errors import InputError


def require(module: str, extra: str, what: str = "this") -> ModuleType:
    """The module, imported.

    Raises:
        InputError: its package, which ``what`` cannot do without, is not installed; ``extra`` of this package would
            bring it.
    """
    try:
        return importlib.import_module(module)
    except ModuleNotFoundError as error:
        raise InputError(
            f"{what} needs the package {error.name}: bash scripts/setup.sh --extras {extra} brings it"
        ) from None
