"""Folders that appear complete or not at all, and what they say of themselves."""

from __future__ import annotations

import glob
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from fairseq_xl.io.atomic import HIDDEN, exclusive_lock, hidden_name
from fairseq_xl.io.errors import InputError
from fairseq_xl.io.lines import loads


@contextmanager
def atomic_folder(output: Path, mark: str, what: str) -> Iterator[Path]:
    """A hidden folder beside ``output``, which takes its place when the block ends without an error.

    A link to a folder is followed and stays, and a folder's permissions stay as they were.

    Args:
        output: new, empty, or a folder that holds a file called ``mark``, as only what wrote it has.
        mark: see there.
        what: what the folder is, in messages: "a model".

    Raises:
        InputError: ``output`` is or holds something else, another process writes it, or it cannot be written.
    """
    if output.exists() and not output.is_dir():
        raise InputError(f"{output} is a file: name a folder")
    if output.is_dir() and not (output / mark).is_file() and any(output.iterdir()):
        raise InputError(f"{output} holds something else than {what}: name another folder")
    place = output.resolve()
    hidden, replaced = hidden_name(place), hidden_name(place)
    lock = place.with_name(f".{place.name}.lock")
    try:
        place.parent.mkdir(parents=True, exist_ok=True)
        with exclusive_lock(lock, f"another process writes {output}: wait until it has ended, or name another folder"):
            for left in place.parent.glob(f".{glob.escape(place.name)}.*.tmp"):
                if left.is_dir() and HIDDEN.fullmatch(left.name):
                    shutil.rmtree(left, ignore_errors=True)  # whoever made it was killed: the lock is ours
            hidden.mkdir()
            try:
                yield hidden
                if place.exists():
                    shutil.copymode(place, hidden)
                    os.rename(place, replaced)
                os.rename(hidden, place)
            finally:
                shutil.rmtree(hidden, ignore_errors=True)
                shutil.rmtree(replaced, ignore_errors=True)
    except OSError as error:
        raise InputError(f"cannot write {output}: {error}") from error


def make_folder(path: Path) -> None:
    """Make a folder, and those that it is in, where they are not there.

    Raises:
        InputError: it cannot be made.
    """
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"cannot make the folder {path}: {error.strerror}") from error


def read_manifest(path: Path, version: int, command: str, **entries: type) -> dict[str, Any]:
    """The manifest of a data directory or another folder that a command prepared.

    Args:
        path: of the manifest.
        version: that this code reads.
        command: what makes such a folder, for messages: ``fairseq-xl match prepare``.
        entries: what it must hold: names and types.

    Raises:
        InputError: no such file, a damaged one, or one of another version.
    """
    try:
        manifest: dict[str, Any] = loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise InputError(f"{path} is missing: `{command}` makes such a folder") from None
    except ValueError:
        raise InputError(f"{path} is damaged: prepare the folder again") from None
    if not isinstance(manifest, dict):
        raise InputError(f"{path} is damaged: prepare the folder again")
    if manifest.get("version") != version:
        raise InputError(f"{path} has version {manifest.get('version')}: prepare the folder again")
    for name, kind in entries.items():
        if not isinstance(manifest.get(name), kind):
            raise InputError(f"{path} is damaged (its {name!r}): prepare the folder again")
    return manifest
