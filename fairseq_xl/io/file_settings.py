"""How options name a file and how to read it: ``FILE[,KEY=VALUE]…``."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from fairseq_xl.io.errors import InputError


def parse(
    line: str, keys: Collection[str], values: Mapping[str, Collection[str]] | None = None
) -> tuple[str, dict[str, str]]:
    """The file and its settings.

    Args:
        line: as the user gives it.
        keys: that are known.
        values: those that a key may have.

    Raises:
        InputError: a setting that is not KEY=VALUE with one of the keys, or another value than a key may have.
    """
    path, *settings = line.split(",")
    found: dict[str, str] = {}
    for setting in settings:
        key, equals, value = setting.partition("=")
        if key not in keys or not equals or not value:
            raise InputError(f"{line!r}: {setting!r} is not KEY=VALUE with a key of {', '.join(keys)}")
        found[key] = value
    for key, known in (values or {}).items():
        if key in found and found[key] not in known:
            raise InputError(f"{line!r}: {key} is one of {', '.join(known)}, not {found[key]!r}")
    return path, found
