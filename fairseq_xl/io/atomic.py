"""The one way this package writes files and folders: they appear complete or not at all.

A file is written beside its place under a hidden name, ``.NAME.RANDOM.tmp``, and renamed when it is whole. A reader, or
a recipe that was killed and started again, therefore never meets half a file. The writer holds a lock on the hidden
file. A hidden file without its lock was left by a killed process. The next writer in that folder removes it.
"""

from __future__ import annotations

import fcntl
import json
import os
import re
import secrets
import shutil
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Any, BinaryIO, TextIO

from fairseq_xl.io.errors import InputError, why_not_written

HIDDEN = re.compile(r"\..+\.[0-9a-f]{12}\.tmp")
DESCRIPTORS = (Path("/dev"), Path("/dev/fd"), Path("/proc/self/fd"))
"""Where the streams of this process have names, such as /dev/stdout."""
_swept: set[Path] = set()


@contextmanager
def atomic_outputs(*paths: Path) -> Iterator[tuple[Path, ...]]:
    """Hidden names beside ``paths``; renamed to them, in order, when the block ends without an error.

    Their folders are created. A link is followed and stays, and a file's permissions stay as they were; a device or a
    pipe is written to as it is. After an error, what stood at ``paths`` before stays.

    Raises:
        InputError: a path is a folder, or cannot be written.
    """
    with ExitStack() as stack:
        places = [_place(path) for path in paths]
        hidden = tuple(stack.enter_context(_hidden(place)) for place in places)
        try:
            yield hidden
            for source, place in zip(hidden, places, strict=True):
                if source != place:
                    os.replace(source, place)
        except BaseException as error:
            # torch and others raise exceptions of their own from what the system refused.
            refusal = why_not_written(error)
            # A full disk names no file. Other files that the block opens are not ours to explain.
            ours = (None, *map(str, hidden))
            named = None if refusal is None or refusal.filename is None else str(refusal.filename)
            if refusal is None or named not in ours:
                raise
            path = paths[max(0, ours.index(named) - 1)]
            raise InputError(f"cannot write {path}: {refusal.strerror}; what was there before is whole") from error


def write_json(path: Path | str, value: Any, **options: Any) -> None:
    """A file of JSON by :func:`atomic_text`. ``options`` are those of ``json.dump``."""
    with atomic_text(path) as stream:
        json.dump(value, stream, **options)
        stream.write("\n")


@contextmanager
def atomic_text(path: Path | str) -> Iterator[TextIO]:
    """A UTF-8 text file by :func:`atomic_outputs`, whose lines end at ``\\n``."""
    with atomic_texts(Path(path)) as (stream,):
        yield stream


@contextmanager
def text_output(path: Path | None) -> Iterator[TextIO]:
    """A file by :func:`atomic_text`, or standard output where a command's user named none."""
    if path is None:
        yield sys.stdout
        return
    with atomic_text(path) as stream:
        yield stream


@contextmanager
def atomic_texts(*paths: Path) -> Iterator[list[TextIO]]:
    """As :func:`atomic_text`, several files, of which none is renamed before all are whole."""
    with atomic_outputs(*paths) as hidden, ExitStack() as stack:
        yield [stack.enter_context(path.open("w", encoding="utf-8", newline="\n")) for path in hidden]


@contextmanager
def atomic_binary(path: Path | str) -> Iterator[BinaryIO]:
    """A file of bytes by :func:`atomic_outputs` that is on the disk before it is renamed: for checkpoints.

    ``path`` holds what it held before or everything new, whenever the process or the machine dies.
    """
    with atomic_outputs(Path(path)) as (hidden,), hidden.open("wb") as stream:
        yield stream
        stream.flush()
        if hidden.is_file():
            os.fsync(stream.fileno())


@contextmanager
def exclusive_lock(lock: Path, sentence: str) -> Iterator[None]:
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
    """Whether a process has this lock, by :func:`exclusive_lock` or otherwise.

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


def real_path(path: Path) -> Path:
    """Where a path leads, by whatever links, whether or not something is there.

    ``Path.resolve`` fails where links lead in a circle, each Python in another way.

    Raises:
        InputError: links lead in a circle.
    """
    place = Path(os.path.realpath(path))
    if place.is_symlink():
        raise InputError(f"cannot use {path}: it is one of a loop of links")
    return place


def hidden_name(path: Path) -> Path:
    """A new name beside ``path`` for what is not complete yet, after what killed processes left there was removed."""
    if path.parent not in _swept and path.parent.is_dir():
        _swept.add(path.parent)  # once: a crawl writes a million files into one folder
        for entry in list(path.parent.iterdir()):
            if HIDDEN.fullmatch(entry.name) and entry.is_file() and not is_held(entry):
                entry.unlink(missing_ok=True)
    return path.with_name(f".{path.name}.{secrets.token_hex(6)}.tmp")


def _place(path: Path) -> Path:
    """Where a path leads, with its folder made; a pipe or a device itself, whatever names it."""
    if path.is_dir():
        raise InputError(f"cannot write {path}: it is a directory")
    if path.exists() and not path.is_file():
        return path
    if path.is_file() and path.parent in DESCRIPTORS:
        # Others write there, too, and renaming would put an end to what they wrote.
        raise InputError(f"cannot write {path}: it leads to the file {real_path(path)}, so name that")
    place = real_path(path) if path.is_symlink() else path
    try:
        place.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"cannot make the folder of {path}: {error.strerror}") from error
    return place


def _locked_name(place: Path) -> tuple[Path, int]:
    """A hidden name beside ``place``, and the file of that name, open and locked."""
    while True:
        name = hidden_name(place)
        try:
            stream = os.open(name, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o666)
        except OSError as error:
            raise InputError(f"cannot write {place}: {error.strerror}") from error
        fcntl.flock(stream, fcntl.LOCK_EX)
        # Before it was locked, another process may have taken it for what a killed one left, and removed it.
        with suppress(FileNotFoundError):
            if os.path.samestat(os.fstat(stream), name.stat()):
                return name, stream
        os.close(stream)


@contextmanager
def _hidden(place: Path) -> Iterator[Path]:
    """A locked, empty file beside ``place``, gone at the end; ``place`` itself where that is a device or a pipe."""
    if place.exists() and not place.is_file():
        yield place
        return
    name, stream = _locked_name(place)
    try:
        if place.exists():
            shutil.copymode(place, name)
        yield name
    finally:
        name.unlink(missing_ok=True)
        os.close(stream)
