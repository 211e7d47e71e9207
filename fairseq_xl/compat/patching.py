"""How a function of fairseq is replaced: once, visibly, and with the stock one kept at hand."""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import ModuleType
from typing import Any

_STOCK = "__fairseq_xl_stock__"
_REASON = "__fairseq_xl_reason__"


def replace(owner: Any, name: str, make: Callable[[Callable[..., Any]], Callable[..., Any]]) -> bool:
    """Put ``make(current)`` in the place of ``owner.name``; the same ``make`` again does nothing.

    ``owner`` is a module or a class; static methods stay static. Several makers may follow one
    another. Returns whether a replacement was made.
    """
    current = getattr(owner, name)
    reason = f"{make.__module__}.{make.__qualname__}"
    inner = current
    while inner is not None:
        if getattr(inner, _REASON, None) == reason:
            return False
        inner = getattr(inner, _STOCK, None)
    mended = make(current)
    mended.__name__ = name
    mended.__qualname__ = getattr(current, "__qualname__", name)
    mended.__doc__ = mended.__doc__ or current.__doc__
    setattr(mended, _STOCK, current)
    setattr(mended, _REASON, reason)
    is_static = isinstance(owner, type) and isinstance(owner.__dict__.get(name), staticmethod)
    setattr(owner, name, staticmethod(mended) if is_static else mended)
    return True


def stock(function: Callable[..., Any]) -> Callable[..., Any]:
    """The function that fairseq shipped, whatever has been put in its place."""
    while hasattr(function, _STOCK):
        function = getattr(function, _STOCK)
    return function


def loaded(name: str) -> list[ModuleType]:
    """A module that may be loaded under its name, as the main program (``python -m``), or not."""
    found = [sys.modules.get(name), sys.modules.get("__main__")]
    return [m for m in found if m is not None and getattr(getattr(m, "__spec__", None), "name", None) == name]
