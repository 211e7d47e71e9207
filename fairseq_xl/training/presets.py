"""Presets: configurations that change another's defaults, and keep its help texts."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any, TypeVar, dataclass_transform

Preset = TypeVar("Preset", bound=type)


@dataclass_transform()
def preset(cls: Preset) -> Preset:
    """A dataclass decorator for a configuration that gives options of the one it inherits from other defaults.

    ``name: int = 3`` alone would make a new field: its help, choices and short names would be gone from ``--help``.
    """
    made: Any = dataclass(cls)
    for field in fields(made):
        for parent in cls.__mro__[1:]:
            inherited = getattr(parent, "__dataclass_fields__", {}).get(field.name)
            if inherited is not None and not field.metadata:
                field.metadata = inherited.metadata
    return made
