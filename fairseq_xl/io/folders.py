"""Folders that appear complete or not at all, and what they say of themselves."""

from __future__ import annotations

import ctypes
import glob
import hashlib
import os
import shutil
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from fairseq_xl.io.atomic import HIDDEN, atomic_outputs, exclusive_lock, hidden_name, real_path
from fairseq_xl.io.errors import InputError
from fairseq_xl.io.json_files import loads

WRITTEN = ".written"
"""In a folder that was written here: a line for each of its files, a checksum (or nothing), a tab and the name."""


@contextmanager
def atomic_folder(output: Path, mark: str, what: str) -> Iterator[Path]:
    """A hidden folder beside ``output``, which takes its place when the block ends without an error.

    A link to a folder is followed and stays, and so do a folder's permissions. The folder gets a list of its files,
    :data:`WRITTEN`: what else is there when it is to be replaced is somebody's own.

    Args:
        output: new, empty, or a folder that holds a file called ``mark`` and no file that was not written with it. Only
            the folder's own writer makes such a file.
        mark: the file's name.
        what: what the folder is, in messages: "a model".

    Raises:
        InputError: ``output`` is or holds something else, another process writes it, or it cannot be written.
    """
    if output.exists() and not output.is_dir():
        raise InputError(f"{output} is a file: name a folder")
    if output.is_dir() and not (output / mark).is_file() and any(output.iterdir()):
        raise InputError(f"{output} holds something else than {what}: name another folder")
    place = real_path(output)
    replaced = hidden_name(place)
    with _refusals_explained(output), hidden_folder(place, output) as hidden:
        if others := set(_files(place)) - set(_read_list(place)):
            raise InputError(f"{output} holds {min(others)!r}, which is not of {what}: move it elsewhere first")
        yield hidden
        _write_list(hidden, [(name, "") for name in _files(hidden)])
        try:
            if place.exists():
                shutil.copymode(place, hidden)
                if _exchanged(hidden, place):
                    return
                os.rename(place, replaced)
            os.rename(hidden, place)
        finally:
            shutil.rmtree(replaced, ignore_errors=True)


def _exchanged(one: Path, other: Path) -> bool:
    """Let two folders change places at once, so that a kill leaves no moment without either, where the system can."""
    rename = getattr(ctypes.CDLL(None), "renameat2", None)
    here, exchange = -100, 2  # AT_FDCWD, RENAME_EXCHANGE
    return rename is not None and rename(here, os.fsencode(one), here, os.fsencode(other), exchange) == 0


@contextmanager
def own_files(folder: Path, what: str, stays: Callable[[str], bool] = lambda _: False) -> Iterator[Path]:
    """A hidden folder whose files go into ``folder`` when the block ends without an error, beside those of others.

    The folder's list has the files of an earlier time and their checksums. Only these are replaced, or removed where
    there is no new one.

    Args:
        folder: new or not.
        what: what writes them, in messages: "a report".
        stays: of the name of an earlier file without a new one, whether it is kept: it was made by a call of its own.

    Raises:
        InputError: a file in the way that is none of these or was changed since; nothing has been written then.
    """
    place = real_path(folder)
    new_folder = not place.exists()
    with _refusals_explained(folder):
        place.mkdir(parents=True, exist_ok=True)
        try:
            with hidden_folder(place / "new", folder) as hidden:  # in it: the folder around it may be closed to us
                yield hidden
                _put(hidden, place, folder, what, stays)
        finally:
            if new_folder:
                with suppress(OSError):  # unless something is in it now
                    place.rmdir()


def _put(hidden: Path, place: Path, folder: Path, what: str, stays: Callable[[str], bool]) -> None:
    known = _read_list(place)
    new = {name: digest(hidden / name) for name in _files(hidden)}
    for name in new:
        if os.path.lexists(place / name) and not _is_known(place / name, known.get(name)):
            raise InputError(f"{folder / name} is not as {what} wrote it: move it elsewhere first")
    # A process that is killed from here on leaves old and new files, both of which are known.
    _write_list(place, [*((n, d) for n, digests in known.items() for d in digests), *new.items()])
    for name in new:
        (place / name).parent.mkdir(parents=True, exist_ok=True)
        os.replace(hidden / name, place / name)
    kept = {name: found for name, found in known.items() if name not in new and stays(name)}
    for name in known.keys() - new.keys() - kept.keys():
        if _is_known(place / name, known[name]):
            (place / name).unlink()
    _write_list(place, [*((name, each) for name, found in kept.items() for each in found), *new.items()])


def check_files(folder: Path, files: Mapping[str, Any], what: str) -> None:
    """See that files of a folder are there and as they were written.

    Args:
        folder: theirs.
        files: their names and checksums, as the folder's manifest gives them.
        what: what the folder is, in messages: "the model folder".

    Raises:
        InputError: one that is missing or was changed; a name that is a path.
    """
    for name, expected in files.items():
        if Path(name).name != name or not (folder / name).is_file():
            raise InputError(f"{what} {folder} lacks {name}: copy it anew, or make it again")
        if digest(folder / name) != expected:
            raise InputError(f"{folder / name} is not as it was written: copy the folder anew, or make it again")


def digest(path: Path) -> str:
    """SHA-256 of a file, in hexadecimal."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


@contextmanager
def _refusals_explained(output: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise InputError(f"cannot write {output}: {error}") from error


@contextmanager
def hidden_folder(place: Path, output: Path) -> Iterator[Path]:
    """A new hidden folder beside ``place`` for the one process that writes it, gone at the end.

    Args:
        output: what ``place`` is called, in messages.

    Raises:
        InputError: another process writes it.
    """
    hidden, lock = hidden_name(place), place.with_name(f".{place.name}.lock")
    place.parent.mkdir(parents=True, exist_ok=True)
    with exclusive_lock(lock, f"another process writes {output}: wait until it has ended, or name another folder"):
        for left in place.parent.glob(f".{glob.escape(place.name)}.*.tmp"):
            if left.is_dir() and HIDDEN.fullmatch(left.name):
                shutil.rmtree(left, ignore_errors=True)  # whoever made it was killed: the lock is ours
        hidden.mkdir()
        try:
            yield hidden
        finally:
            shutil.rmtree(hidden, ignore_errors=True)


def _files(folder: Path) -> list[str]:
    paths = sorted(path for path in folder.rglob("*") if path.is_symlink() or not path.is_dir())
    return [name for path in paths if (name := path.relative_to(folder).as_posix()) != WRITTEN]


def _is_known(path: Path, digests: list[str] | None) -> bool:
    return digests is not None and path.is_file() and not path.is_symlink() and digest(path) in digests


def _read_list(folder: Path) -> dict[str, list[str]]:
    """Names of files and the checksums that each may have; nothing where there is no list, or something else."""
    known: dict[str, list[str]] = {}
    path = folder / WRITTEN
    if path.is_file():
        for line in path.read_text(encoding="utf-8", errors="surrogateescape").split("\n"):
            found, tab, name = line.partition("\t")
            if tab:
                known.setdefault(name, []).append(found)
    return known


def _write_list(folder: Path, files: list[tuple[str, str]]) -> None:
    with atomic_outputs(folder / WRITTEN) as (path,):
        lines = "".join(f"{found}\t{name}\n" for name, found in files)
        path.write_text(lines, encoding="utf-8", errors="surrogateescape")


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
        within = path.parent / "model"  # of a recipe's run
        meant = f"did you mean {within}?" if (within / path.name).is_file() else f"`{command}` makes such a folder"
        raise InputError(f"{path} is missing: {meant}") from None
    except NotADirectoryError:
        raise InputError(f"{path.parent} is a file: give a folder, as `{command}` makes it") from None
    except ValueError:
        raise InputError(f"{path} is damaged: prepare the folder again") from None
    if not isinstance(manifest, dict):
        raise InputError(f"{path} is damaged: prepare the folder again")
    if manifest.get("version") != version:
        raise InputError(
            f"{path} has version {manifest.get('version')}, and this version of fairseq_xl reads {version}: make the "
            f"folder again with `{command}`"
        )
    for name, kind in entries.items():
        if not isinstance(manifest.get(name), kind):
            raise InputError(f"{path} is damaged (its {name!r}): prepare the folder again")
    return manifest
