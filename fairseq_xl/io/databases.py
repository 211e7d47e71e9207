"""SQLite files, on disks that can be full or closed to us."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from fairseq_xl.io.errors import InputError

_REFUSALS = (
    *(sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR, sqlite3.SQLITE_CANTOPEN),
    *(sqlite3.SQLITE_READONLY, sqlite3.SQLITE_PERM),
)


def connect(path: Path | str, **options: Any) -> sqlite3.Connection:
    """As ``sqlite3.connect``, but what the disk refuses, now and later, is a mistake of the user's.

    Raises:
        InputError: from this and from the connection's methods: a file that cannot be made or written, or is damaged.
    """
    with _refusals_of(path):
        connection = sqlite3.connect(path, factory=_Connection, **options)
    connection.path = path
    return connection


@contextmanager
def _refusals_of(path: Path | str) -> Iterator[None]:
    """Other errors (locked by another process, a defect of ours) stay what they are."""
    try:
        yield
    except sqlite3.OperationalError as error:
        if error.sqlite_errorcode & 0xFF not in _REFUSALS:
            raise
        raise InputError(
            f"the database {path} cannot be used ({error}): see that its folder can be written and that there is "
            "room in it and in the one that SQLITE_TMPDIR names"
        ) from error
    except sqlite3.DatabaseError as error:
        # What is no database at all is told by whoever opens it, who knows what was to be there.
        if getattr(error, "sqlite_errorcode", 0) & 0xFF != sqlite3.SQLITE_CORRUPT:
            raise
        raise InputError(f"the database {path} is damaged ({error}): make it again") from error


def _naming_the_file(method: Callable[..., Any]) -> Any:
    def call(self: _Connection, *arguments: Any) -> Any:
        with _refusals_of(self.path):
            return method(self, *arguments)

    return call


class _Connection(sqlite3.Connection):
    """SQLite's errors do not name the file, so that each statement sees to it."""

    path: Path | str = ""

    execute = _naming_the_file(sqlite3.Connection.execute)
    executemany = _naming_the_file(sqlite3.Connection.executemany)
    executescript = _naming_the_file(sqlite3.Connection.executescript)
    commit = _naming_the_file(sqlite3.Connection.commit)
    __exit__ = _naming_the_file(sqlite3.Connection.__exit__)
