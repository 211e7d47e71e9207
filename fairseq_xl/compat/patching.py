"""How a function of fairseq is replaced: once, visibly, and with the stock function still at hand."""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import wraps
from types import ModuleType
from typing import Any

_STOCK = "__fairseq_xl_stock__"
_REASON = "__fairseq_xl_reason__"

Stock = Callable[..., Any]
"""The function that was replaced."""


def replace(owner: Any, name: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Decorate the replacement of ``owner.name``. It gets the replaced function as its first argument.

    ``owner`` is a module or a class. Static methods stay static. The same replacement again does nothing, and several
    replacements may follow one another. The name, the module and the signature stay as they were, so the function still
    pickles.
    """

    def put(mended: Callable[..., Any]) -> Callable[..., Any]:
        current = getattr(owner, name)
        reason = f"{mended.__module__}.{mended.__qualname__}"
        inner = current
        while inner is not None:
            if getattr(inner, _REASON, None) == reason:
                return mended
            inner = getattr(inner, _STOCK, None)

        @wraps(current)
        def replacement(*args: Any, **kwargs: Any) -> Any:
            return mended(current, *args, **kwargs)

        vars(replacement).update({_STOCK: current, _REASON: reason})
        is_static = isinstance(owner, type) and isinstance(owner.__dict__.get(name), staticmethod)
        setattr(owner, name, staticmethod(replacement) if is_static else replacement)
        return mended

    return put


def stock(function: Callable[..., Any]) -> Stock:
    """The function that fairseq shipped, whatever has been put in its place."""
    while hasattr(function, _STOCK):
        function = getattr(function, _STOCK)
    return function


def loaded(name: str) -> list[ModuleType]:
    """A module that may be loaded under its name, as the main program (``python -m``), or not."""
    found = [sys.modules.get(name), sys.modules.get("__main__")]
    return [m for m in found if m is not None and getattr(getattr(m, "__spec__", None), "name", None) == name]
