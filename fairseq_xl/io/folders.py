"""Folders that appear complete or not at all, and what they say of themselves."""

from __future__ import annotations

import fcntl
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from fairseq_xl.io.errors import InputError
from fairseq_xl.io.json_text import loads


@contextmanager
def replacing_folder(output: Path, mark: str, what: str) -> Iterator[Path]:
    """A temporary folder beside ``output``, which takes its place when the block ends without an error.

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
    temporary = output.with_name(output.name + ".tmp")
    replaced = output.with_name(output.name + ".old")
    lock = output.with_name(f".{output.name}.lock")
    try:
        output.parent.mkdir(parents=True, exist_ok=True)
        with alone(lock, f"another process writes {output}: wait until it has ended, or name another folder"):
            try:
                shutil.rmtree(temporary, ignore_errors=True)  # of a run that was killed
                temporary.mkdir()
                yield temporary
                shutil.rmtree(replaced, ignore_errors=True)
                if output.exists():
                    os.rename(output, replaced)
                os.rename(temporary, output)
                shutil.rmtree(replaced, ignore_errors=True)
            finally:
                shutil.rmtree(temporary, ignore_errors=True)
    except OSError as error:
        raise InputError(f"cannot write {output}: {error}") from error


@contextmanager
def alone(lock: Path, sentence: str) -> Iterator[None]:
    """One process at a time, whichever has the lock; a killed one leaves none.

    Args:
        lock: a file, made if it is not there and removed at the end.
        sentence: what to say to a second process.

    Raises:
        InputError: there is another one.
    """
    with lock.open("a") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            # Opened before another process removed it: whoever comes next would make and lock a new one.
            if not os.path.samestat(os.fstat(file.fileno()), lock.stat()):
                raise BlockingIOError
        except (BlockingIOError, FileNotFoundError):
            raise InputError(sentence) from None
        try:
            yield
        finally:
            lock.unlink(missing_ok=True)


def is_held(lock: Path) -> bool:
    """Whether a process has this lock, by :func:`alone` or otherwise.

    Asking takes a share of it for an instant, in which a process that comes for it is told that it is taken.
    """
    try:
        with lock.open("rb") as file:
            fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    except FileNotFoundError:
        pass
    return False


def read_manifest(path: Path, version: int, command: str, **entries: type) -> dict[str, Any]:
    """The manifest of a prepared folder.

    Args:
        path: of the manifest.
        version: that this code reads.
        command: what makes such a folder, for messages: ``fairseq-xl pairs prepare``.
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
