"""Translating each line once, and never again."""

from __future__ import annotations

import hashlib
import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from pathlib import Path

from tqdm import tqdm

from fairseq_xl.corpus.alignment.translators import Translator
from fairseq_xl.corpus.documents.document import Document
from fairseq_xl.io.databases import connect
from fairseq_xl.io.errors import InputError
from fairseq_xl.io.lines import read_lines


class Cache:
    """Translations by translator and line, in an SQLite file.

    Raises:
        InputError: the file is something else, or another process writes it.
    """

    def __init__(self, path: Path, identity: str):
        self.translator = hashlib.sha256(identity.encode()).hexdigest()
        path.parent.mkdir(parents=True, exist_ok=True)
        self._db = connect(path)
        try:
            self._db.execute(
                "create table if not exists translation (translator text, line text, translated text,"
                " primary key (translator, line)) without rowid"
            )
        except sqlite3.DatabaseError as error:
            raise InputError(f"{path}: {error}; delete it, and it is made anew") from None

    def __getitem__(self, line: str) -> str:
        row = self._find(line)
        if row is None:
            raise KeyError(line)
        return row[0]

    def __contains__(self, line: str) -> bool:
        return self._find(line) is not None

    def _find(self, line: str) -> tuple[str] | None:
        return self._db.execute(
            "select translated from translation where translator = ? and line = ?", (self.translator, line)
        ).fetchone()

    def add(self, lines: Sequence[str], translations: Sequence[str]) -> None:
        """Keep a batch: all of it or, if the process is killed, nothing."""
        rows = ((self.translator, *pair) for pair in zip(lines, translations, strict=True))
        with self._db:
            self._db.executemany("insert or replace into translation values (?, ?, ?)", rows)

    def close(self) -> None:
        """Let go of the file."""
        self._db.close()


def translate_lines(lines: Iterable[str], translator: Translator, cache: Cache, batch: int) -> int:
    """Translate every line that the cache lacks; return how many that were.

    Raises:
        InputError: the translator cannot, or returns another number of lines. Batches before are kept.
    """
    new = [line for line in dict.fromkeys(lines) if line not in cache]
    rest = iter(new)
    with tqdm(total=len(new), desc="translate", unit=" lines", delay=1) as bar:
        while part := list(islice(rest, batch)):
            translated = translator.translate(part)
            if len(translated) != len(part):
                raise InputError(
                    f"the translator returned {len(translated)} lines for {len(part)}: it must return one for each"
                )
            cache.add(part, translated)
            bar.update(len(part))
    return len(new)


def with_file(documents: Sequence[Document], path: Path) -> Iterator[Document]:
    """Documents with the translation that a file holds, line for line of all second sides.

    Raises:
        InputError: the file cannot be read, or has another number of lines.
    """
    lines = list(read_lines(path))
    expected = sum(len(document.lines[1]) for document in documents)
    if len(lines) != expected:
        raise InputError(
            f"{path} has {len(lines)} lines where the pages have {expected}: translate the lines of extract.LANG.txt,"
            " one by one"
        )
    start = 0
    for document in documents:
        end = start + len(document.lines[1])
        document.translation = lines[start:end]
        start = end
        yield document
