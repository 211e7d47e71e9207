"""Files that appear complete or not at all."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from fairseq_xl.io.errors import InputError, why_not_written
from fairseq_xl.io.temporary import temporary_name


@contextmanager
def atomic_outputs(*paths: Path) -> Iterator[tuple[Path, ...]]:
    """Temporary names beside ``paths``; renamed to them, in order, when the block ends without an error.

    Their folders are created. Otherwise the temporary files are removed and what stood at
    ``paths`` before stays. Raises InputError when a path is a folder or cannot be written.
    """
    for path in paths:
        if path.is_dir():
            raise InputError(f"cannot write {path}: it is a directory")
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise InputError(f"cannot make the folder of {path}: {error.strerror}") from error
    temporary = tuple(map(temporary_name, paths))
    try:
        yield temporary
        for source, path in zip(temporary, paths, strict=True):
            os.replace(source, path)
    except OSError as error:
        # A full disk names no file; whatever else the block opens is not ours to explain.
        ours = (None, *map(str, temporary))
        named = error.filename if error.filename is None else str(error.filename)
        if why_not_written(error) is not error or named not in ours:
            raise
        raise InputError(f"cannot write {paths[max(0, ours.index(named) - 1)]}: {error.strerror}") from error
    finally:
        for source in temporary:
            source.unlink(missing_ok=True)
