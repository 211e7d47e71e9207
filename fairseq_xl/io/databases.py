"""SQLite files, on disks that can be full or closed to us."""

from __future__ import annotations

import hashlib
import sqlite3
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager
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


def connect_to(path: Path | str, schema: str, what: str, must_exist: bool = False) -> sqlite3.Connection:
    """A database of our own: :func:`connect`, and see that it holds our tables and no others.

    Args:
        path: a file, made where there is none; ``:memory:`` for one that ends with the process.
        schema: statements that make the tables where they are not there.
        what: what the file is, in messages: "a corpus".
        must_exist: it is read: all the tables are there, and nothing is made.

    Raises:
        InputError: something else, which stays as it is; see also :func:`connect`.
    """
    with closing(sqlite3.connect(":memory:")) as example:
        example.executescript(schema)
        wanted = _columns(example)
    try:
        with ExitStack() as stack:
            connection = stack.enter_context(closing(connect(path, timeout=60)))
            found = _columns(connection)
            if any(wanted.get(name) != columns for name, columns in found.items()) or (must_exist and found != wanted):
                raise InputError(f"{path} is a database, but not {what}: name another file")
            if found != wanted:
                connection.executescript(schema)
            stack.pop_all()
    except sqlite3.DatabaseError as error:
        raise InputError(f"{path} is not {what} ({error}): name another file") from None
    return connection


class Cache:
    """What was made of texts, by a hash of its maker and the text.

    Makers and kinds of text may share a file; one process writes at a time.
    """

    def __init__(self, path: Path | str, what: str) -> None:
        """Open the file.

        Args:
            path: made where there is none, with its folder; ``:memory:`` for a cache that ends with the process.
            what: what the file is, in messages: "a cache of tags".

        Raises:
            InputError: something else, or a file that cannot be used.
        """
        if path != ":memory:":
            Path(path).parent.mkdir(parents=True, exist_ok=True)
        schema = "CREATE TABLE IF NOT EXISTS made (key BLOB PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID"
        self._db = connect_to(path, schema, what)

    def get(self, maker: str, texts: Sequence[str]) -> list[str | None]:
        """What is kept of each text, None where there is nothing."""
        query = "SELECT value FROM made WHERE key = ?"
        rows = (self._db.execute(query, (_key(maker, text),)).fetchone() for text in texts)
        return [row and row[0] for row in rows]

    def put(self, maker: str, texts: Sequence[str], values: Sequence[str]) -> None:
        """Keep all of them or, if the process is killed, none."""
        rows = [(_key(maker, text), value) for text, value in zip(texts, values, strict=True)]
        with self._db:
            self._db.executemany("INSERT OR REPLACE INTO made VALUES (?, ?)", rows)

    def close(self) -> None:
        """Let go of the file."""
        self._db.close()


def _key(maker: str, text: str) -> bytes:
    return hashlib.blake2b(f"{maker}\0{text}".encode(), digest_size=16).digest()


def _columns(connection: sqlite3.Connection) -> dict[str, list[str]]:
    """The columns of each table."""
    query = (
        "SELECT t.name, c.name FROM sqlite_master AS t JOIN pragma_table_info(t.name) AS c"
        " WHERE t.type = 'table' AND t.name NOT LIKE 'sqlite_%' ORDER BY t.name, c.cid"
    )
    found: dict[str, list[str]] = {}
    for table, column in connection.execute(query):
        found.setdefault(table, []).append(column)
    return found


class DamagedDatabase(InputError):
    """A file that is no database, or no whole one."""


@contextmanager
def _refusals_of(path: Path | str) -> Iterator[None]:
    """Other errors (locked by another process, a defect of ours) stay what they are."""
    try:
        yield
    except sqlite3.OperationalError as error:
        if error.sqlite_errorcode & 0xFF not in _REFUSALS:
            raise
        raise InputError(
            f"the database {path} cannot be used ({error}): make its folder writable, and free space in it and in the "
            "folder that SQLITE_TMPDIR names"
        ) from error
    except sqlite3.DatabaseError as error:
        # A file that is no database is reported by the caller, who knows what should be there.
        if getattr(error, "sqlite_errorcode", 0) & 0xFF != sqlite3.SQLITE_CORRUPT:
            raise
        raise DamagedDatabase(f"the database {path} is damaged ({error}): make it again") from error


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
