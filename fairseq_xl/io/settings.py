"""Settings as dataclasses: one object for a command's options, a section of a YAML file and a function's arguments.

The metadata of a field, as :func:`option` takes them, say what the option is for and which values it may have;
:func:`check` holds an object against them, wherever its values came from.
"""

from __future__ import annotations

import math
from collections.abc import Collection
from dataclasses import MISSING, field, fields
from typing import TYPE_CHECKING, Any

from fairseq_xl.io.errors import InputError

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

GREATEST = 2**63 - 1
"""The greatest whole number that arrays hold; Python's own have no end."""
GREATEST_SEED = 2**32 - 1
"""The greatest that every generator takes, NumPy's old one included; none takes a negative one."""


def option(
    text: str,
    default: Any = MISSING,
    *,
    alias: str | None = None,
    choices: Collection[str] | None = None,
    low: float | None = None,
    high: float | None = None,
    metavar: str | tuple[str, ...] | None = None,
    exclusive: str | None = None,
    shown: str | None = None,
    positional: bool = False,
) -> Any:
    """A field of a settings dataclass.

    Args:
        text: its help: what it is, and when to change it.
        default: without one the option is required. A list is copied for each object.
        alias: a short form for the command line, such as ``-o``.
        choices: the values that it may have.
        low, high: the least and the greatest number that it may be; either refuses what is not finite.
        metavar: what stands for its value in the help.
        exclusive: name of a group of which one option at most is given; exactly one where the group's options have
            no default but None and its name ends in ``!``.
        shown: the default in words, where its value says little.
        positional: the command line gives it by its place.
    """
    metadata = {
        "help": text,
        "argparse_alias": alias,  # fairseq's own name for it
        "choices": choices,
        "low": low,
        "high": high,
        "metavar": metavar,
        "exclusive": exclusive,
        "shown": shown,
        "positional": positional,
    }
    metadata = {name: value for name, value in metadata.items() if value is not None and value is not False}
    if isinstance(default, list):
        return field(default_factory=default.copy, metadata=metadata)
    return field(default=default, metadata=metadata)


def argument(text: str, default: Any = MISSING, **metadata: Any) -> Any:
    """An :func:`option` that the command line gives by its place."""
    return option(text, default, positional=True, **metadata)


def check(settings: DataclassInstance, prefix: str = "--") -> None:
    """Hold an object's values against what its fields' metadata say of them.

    Args:
        settings: the object.
        prefix: what stands before an option's name in a sentence: ``--`` on the command line, ``align.`` in a file.

    Raises:
        InputError: a value that is none of the choices, is out of bounds, or is no finite number.
    """
    for each in fields(settings):
        value = getattr(settings, each.name)
        name = each.name.replace("_", "-") if prefix == "--" else each.name
        if each.metadata.get("positional"):
            prefix_of_this, name = "", each.name.upper()
        else:
            prefix_of_this = prefix
        for item in value if isinstance(value, (list, tuple)) else [value]:
            if item is not None:
                _check_item(item, each.metadata, prefix_of_this + name)


def _check_item(item: Any, metadata: Any, name: str) -> None:
    choices = metadata.get("choices")
    if choices is not None and item not in choices:
        raise InputError(f"{name} is one of {', '.join(map(str, choices))}, not {item!r}")
    if isinstance(item, bool) or not isinstance(item, (int, float)):
        return
    low, high = metadata.get("low"), metadata.get("high")
    if isinstance(item, float) and not math.isfinite(item):
        raise InputError(f"{name} is {item}: give a finite number")
    if isinstance(item, int) and abs(item) > GREATEST:
        raise InputError(f"{name} is {item}: give a number from {-GREATEST} to {GREATEST}")
    if (low is not None and item < low) or (high is not None and item > high):
        bounds = f"from {low:g}" + (f" to {high:g}" if high is not None else "") if low is not None else f"to {high:g}"
        raise InputError(f"{name} is {item}: give a number {bounds}")
