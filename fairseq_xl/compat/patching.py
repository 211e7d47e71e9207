"""How a function of fairseq is replaced: once, visibly, and with the stock one kept at hand."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

_MARK = "__fairseq_xl_stock__"


def replace(
    owner: Any, name: str, make: Callable[[Callable[..., Any]], Callable[..., Any]]
) -> bool:
    """Put ``make(stock)`` in the place of ``owner.name``; a second call changes nothing.

    ``owner`` is a module or a class. Static methods stay static. Returns whether a replacement was
    made.
    """
    stock = getattr(owner, name)
    if hasattr(stock, _MARK):
        return False
    mended = make(stock)
    mended.__name__ = name
    mended.__qualname__ = getattr(stock, "__qualname__", name)
    mended.__doc__ = mended.__doc__ or stock.__doc__
    setattr(mended, _MARK, stock)
    is_static = isinstance(owner, type) and isinstance(owner.__dict__.get(name), staticmethod)
    setattr(owner, name, staticmethod(mended) if is_static else mended)
    return True


def stock(function: Callable[..., Any]) -> Callable[..., Any]:
    """The function that fairseq shipped, whether or not ``function`` is our replacement of it."""
    return getattr(function, _MARK, function)
