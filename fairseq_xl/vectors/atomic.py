"""Files that appear complete or not at all."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from fairseq_xl.errors import InputError


@contextmanager
def atomic_outputs(*paths: Path) -> Iterator[tuple[Path, ...]]:
    """Temporary names beside ``paths``; renamed to them, in order, when the block ends without an error.

    Their folders are created. Otherwise the temporary files are removed and what stood at
    ``paths`` before stays. Raises InputError when a path is a folder or cannot be written.
    """
    for path in paths:
        if path.is_dir():
            raise InputError(f"cannot write {path}: it is a directory")
    temporary = tuple(path.with_name(f".{path.name}.{os.getpid()}.tmp") for path in paths)
    try:
        try:
            for path in paths:
                path.parent.mkdir(parents=True, exist_ok=True)
            yield temporary
            for source, path in zip(temporary, paths, strict=True):
                os.replace(source, path)
        except (PermissionError, FileExistsError, NotADirectoryError) as error:
            raise InputError(
                f"cannot write {error.filename or paths[0]}: {error.strerror}"
            ) from error
    finally:
        for source in temporary:
            source.unlink(missing_ok=True)
