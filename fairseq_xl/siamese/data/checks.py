"""What the steps check before their work, not after it."""

from __future__ import annotations

import os
from pathlib import Path

from fairseq_xl.io.errors import InputError


def check_folder(path: Path) -> None:
    """Raises: InputError: a folder that cannot be written or made."""
    place = path
    while not os.path.exists(place) and place != place.parent:
        place = place.parent
    if not place.is_dir():
        raise InputError(f"cannot write {path}: {place} is a file; name a folder")
    if not os.access(place, os.W_OK | os.X_OK):
        raise InputError(f"cannot write {path}: {place} is read-only; name another folder")


def check_file(path: Path | None) -> None:
    """Raises: InputError: a file that cannot be written; None, for stdout, can."""
    if path is not None:
        if path.is_dir():
            raise InputError(f"cannot write {path}: it is a folder; name a file")
        check_folder(path.parent)


def check_least(option: str, value: int, least: int = 0) -> None:
    """Raises: InputError: a number below ``least``."""
    if value < least:
        raise InputError(f"{option} takes a number from {least}, not {value}")


def check_seed(option: str, value: int) -> None:
    """Raises: InputError: no seed that numpy and scikit-learn take."""
    if not 0 <= value < 2**32:
        raise InputError(f"{option} takes a number from 0 to {2**32 - 1}, not {value}")
