"""SQLite files, on disks that can be full or closed to us."""

from __future__ import annotations

import sqlite3
from pathlib import Path
from typing import Any

from fairseq_xl.io.errors import InputError

_REFUSALS = (
    *(sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR, sqlite3.SQLITE_CANTOPEN),
    *(sqlite3.SQLITE_READONLY, sqlite3.SQLITE_PERM),
)


def _guarded(name: str) -> Any:
    method = getattr(sqlite3.Connection, name)

    def guarded(self: _Connection, *arguments: Any) -> Any:
        try:
            return method(self, *arguments)
        except sqlite3.OperationalError as error:
            _refuse(error, self.path)
            raise

    return guarded


class _Connection(sqlite3.Connection):
    """SQLite's errors do not name the file, so that each statement sees to it."""

    path: Path | str

    execute = _guarded("execute")
    executemany = _guarded("executemany")
    executescript = _guarded("executescript")
    commit = _guarded("commit")
    __exit__ = _guarded("__exit__")


def connect(path: Path | str, **options: Any) -> sqlite3.Connection:
    """As ``sqlite3.connect``, but what the disk refuses, now and later, is a mistake of the user's.

    Raises:
        InputError: from this and from the connection's methods: a file that cannot be made or written.
    """
    try:
        connection = sqlite3.connect(path, factory=_Connection, **options)
    except sqlite3.OperationalError as error:
        _refuse(error, path)
        raise
    connection.path = path
    return connection


def _refuse(error: sqlite3.OperationalError, path: Path | str) -> None:
    """Other errors (locked by another process, a defect of ours) stay what they are."""
    if error.sqlite_errorcode & 0xFF in _REFUSALS:
        raise InputError(
            f"the database {path} cannot be used ({error}): see that its folder can be written and that there is "
            "room in it and in the one that SQLITE_TMPDIR names"
        ) from error
