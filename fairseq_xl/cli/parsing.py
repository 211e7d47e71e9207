"""Commands as dataclasses: the fields are the options, the docstring is the description, ``run`` does the work."""

from __future__ import annotations

import argparse
import importlib
import inspect
import re
import types
import typing
from collections.abc import Mapping, Sequence
from dataclasses import MISSING, Field, fields
from pathlib import Path
from typing import Any

from fairseq_xl.io import settings

Table = Mapping[str, tuple[str, str]]
"""Name -> where the command's class is (``package.module:Class``), or its group's table, and a line of help."""


def load(place: str) -> Any:
    """What stands at ``package.module:Name``."""
    module, _, name = place.partition(":")
    return getattr(importlib.import_module(module), name)


def add_options(parser: argparse.ArgumentParser, kind: type) -> list[argparse.Action]:
    """Give a parser the options of a command's class, which are returned, and its docstring as description."""
    parser._negative_number_matcher = re.compile(r"^-(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?$")  # as of Python 3.14
    parser.description = " ".join((inspect.getdoc(kind) or "").split())
    added = []
    hints = typing.get_type_hints(kind)
    groups: dict[str, Any] = {}
    for each in fields(kind):
        target: Any = parser
        if group := each.metadata.get("exclusive"):
            if group not in groups:
                groups[group] = parser.add_mutually_exclusive_group(required=group.endswith("!"))
            target = groups[group]
        added.append(_add_option(target, each, hints[each.name]))
    return added


def parse(parser: argparse.ArgumentParser, kind: type, words: Sequence[str]) -> Any:
    """The command that ``words`` ask for, an object of its class with checked settings.

    Raises:
        InputError: a value that its option does not take.
    """
    add_options(parser, kind)
    made = kind(**vars(parser.parse_args(words)))
    settings.check(made)
    return made


def _add_option(target: Any, each: Field[Any], hint: Any) -> argparse.Action:
    about = each.metadata
    default = each.default_factory() if each.default_factory is not MISSING else each.default
    required = default is MISSING
    options: dict[str, Any] = {"help": _help(about, default)}
    if "metavar" in about:
        options["metavar"] = about["metavar"]
    kind, nargs, many = _kind(hint)
    if kind is bool:
        options["action"] = "store_true" if default is False else argparse.BooleanOptionalAction
    else:
        options["type"] = kind
        if nargs is not None:
            options["nargs"] = nargs
        if "choices" in about:
            options["choices"] = list(about["choices"])
    if about.get("positional"):
        if not required:
            options["nargs"] = "?" if nargs is None else "*"
            options["default"] = default
        options.setdefault("metavar", each.name.upper())
        return target.add_argument(each.name, **options)
    if many:
        # Given twice, both count; not given, the dataclass has the default, to which argparse would add.
        options["action"] = many
        options["default"] = argparse.SUPPRESS
    elif not required:
        options["default"] = default
    if required and "exclusive" not in about:
        options["required"] = True
    names = [f"--{each.name.replace('_', '-')}"]
    if "argparse_alias" in about:
        names.append(about["argparse_alias"])
    return target.add_argument(*names, **options)


def _kind(hint: Any) -> tuple[Any, str | int | None, str | None]:
    """How one value is read, how many there are, and what an option does that is given once more."""
    if isinstance(hint, types.UnionType) or typing.get_origin(hint) is typing.Union:
        (hint,) = (each for each in typing.get_args(hint) if each is not type(None))
    origin, inner = typing.get_origin(hint), typing.get_args(hint)
    if origin is list and typing.get_origin(inner[0]) is tuple:
        return *_kind(inner[0])[:2], "append"
    if origin is list or (origin is tuple and Ellipsis in inner):
        return inner[0], "+", "extend"
    if origin is tuple:
        return inner[0], len(inner), None
    if hint not in (str, int, float, bool, Path):
        raise TypeError(f"an option cannot be {hint}: str, int, float, bool, Path, and lists and tuples of them")
    return hint, None, None


def _help(about: Mapping[str, Any], default: Any) -> str:
    text = about["help"].replace("%", "%%")
    shown = about.get("shown")
    # A default of 0 is told, though it equals False.
    if shown is None and not any(default is nothing for nothing in (MISSING, None, False)) and default not in ("", []):
        shown = " ".join(map(str, default)) if isinstance(default, (list, tuple)) else str(default)
        shown = "yes" if default is True else shown
    return text if shown is None else f"{text} (default: {shown.replace('%', '%%')})"
