"""Commands as lists of words."""

from __future__ import annotations

from collections.abc import Sequence


def options(command: Sequence[str], *names: str) -> tuple[str, ...]:
    """The word that follows each of ``names`` in a command."""
    return tuple(command[command.index(name) + 1] for name in names)
