"""Sentences of many languages and which of them translate each other, in one file on disk.

As in Tatoeba itself there are sentences and links. A sentence is therefore held once, whatever its number of
translations, and duplicates become one. German and Spanish are linked where both translate the same English sentence.
SQLite keeps the corpus out of memory. Every change is a transaction, so that a killed step continues where it was.
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import islice
from pathlib import Path

from fairseq_xl.io.atomic import exclusive_lock, real_path
from fairseq_xl.io.databases import connect_to
from fairseq_xl.io.errors import InputError
from fairseq_xl.io.lines import open_binary, refuse_pipe
from fairseq_xl.io.progress import progress_bar
from fairseq_xl.syntactic.data.filters import FILTERS, folded, tidy
from fairseq_xl.syntactic.data.readers import Link, LinkReader

_SCHEMA = """
CREATE TABLE IF NOT EXISTS sentence (
    id INTEGER PRIMARY KEY,  language TEXT NOT NULL,  text TEXT NOT NULL,
    fold BLOB NOT NULL,      tags TEXT,               UNIQUE (language, text)
);
CREATE INDEX IF NOT EXISTS sentence_fold ON sentence (fold);

CREATE TABLE IF NOT EXISTS link (
    source_language TEXT NOT NULL,  target_language TEXT NOT NULL,
    source INTEGER NOT NULL,        target INTEGER NOT NULL,
    PRIMARY KEY (source_language, target_language, source, target)
) WITHOUT ROWID;

CREATE TABLE IF NOT EXISTS input (name TEXT PRIMARY KEY, content TEXT, done INTEGER NOT NULL, counts TEXT NOT NULL);

CREATE TABLE IF NOT EXISTS setting (name TEXT PRIMARY KEY, value TEXT NOT NULL);
"""
PIVOT = "en"
"""The language whose sentences join the others, unless another is named."""
_LINES_PER_TRANSACTION = 20_000


class Corpus:
    """The open file.

    ``link`` holds every pair in both directions. ``tags`` of a sentence are separated by spaces, NULL before tagging.
    """

    def __init__(self, path: Path | str, must_exist: bool = False) -> None:
        """Open the file, or make it.

        Raises:
            InputError: it is something else, cannot be opened, or is not there and must be.
        """
        self.path = Path(path)
        if must_exist and not self.path.is_file():
            raise InputError(f"there is no corpus {path}: make one with fairseq-xl embed prepare")
        self.path.parent.mkdir(parents=True, exist_ok=True)
        self.db = connect_to(path, _SCHEMA, "a corpus", must_exist)

    def close(self) -> None:
        self.db.close()

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Keep other writers away.

        Raises:
            InputError: there is one.
        """
        lock = self.path.with_name(f".{self.path.name}.lock")
        with exclusive_lock(lock, f"another process is at work on {self.path}: wait until it has ended"):
            yield

    # --- settings and inputs ---

    def settle(self, name: str, value: object) -> None:
        """Note a setting that all of the corpus was made with.

        Raises:
            InputError: it was made with another one.
        """
        text = json.dumps(value, sort_keys=True)
        with self.db:
            self.db.execute("INSERT OR IGNORE INTO setting VALUES (?, ?)", (name, text))
        if (found := self.setting(name)) != text:
            raise InputError(f"{self.path} was made with {name} {found}, not {text}: give that, or another corpus")

    def setting(self, name: str) -> str | None:
        """What was noted under a name; None before."""
        row = self.db.execute("SELECT value FROM setting WHERE name = ?", (name,)).fetchone()
        return row and row[0]

    def read(self, reader: LinkReader, minimum: int, filters: Sequence[str]) -> Counter[str]:
        """Add the pairs of an input whose sides pass the filters both; goes on where a killed call stopped.

        Args:
            minimum: words of a sentence.
            filters: names in :data:`.filters.FILTERS`, in the order in which they are asked.

        An input is known by its content, wherever it lies, and by its path, so that a change is noticed. One whose
        reading was broken off may change behind the lines that were read: a mended mistake is gone on with.

        Returns:
            how many ``lines`` were read, how many each filter dropped first, and how many pairs are ``kept`` or were
            there already (``duplicate``).

        Raises:
            InputError: the input is unreadable, or it has changed since it was read into this corpus.
        """
        for path in reader.files:
            refuse_pipe(path)
        content = _digest(reader)
        name, known, done, found = self._known(reader, content)
        # Of an unfinished input a digest of what was read stands behind that of the content.
        known, _, trail = known.partition(" ")
        if known != content and not (trail and _trail(reader.links(0), done) == trail):
            raise InputError(f"{reader.name} has changed since {self.path} was made from it: give another corpus")
        counts, total = Counter(json.loads(found)), len(reader)
        with progress_bar(f"read {reader.name}", True, total, " lines") as bar:
            bar.update(done)
            stream = reader.links(done)
            while done < total:
                with self.db:
                    links = [*islice(stream, _LINES_PER_TRANSACTION)]
                    for link in links:
                        counts["lines"] += 1
                        counts[self._add(link, minimum, filters)] += 1
                    done += len(links)
                    trail = _step(trail, links)
                    record = (name, content if done == total else f"{content} {trail}", done, json.dumps(counts))
                    self.db.execute("INSERT OR REPLACE INTO input VALUES (?, ?, ?, ?)", record)
                bar.update(len(links))
        return counts

    def inputs(self) -> set[str]:
        """What was read, by languages and place."""
        return {name for (name,) in self.db.execute("SELECT name FROM input")}

    def name_of(self, reader: LinkReader) -> str:
        """What an input is called in :meth:`inputs`: by its content, or else by its path."""
        return self._known(reader, _digest(reader))[0]

    def _known(self, reader: LinkReader, content: str) -> tuple[str, str, int, str]:
        """The row of an input: of its content, or else of its path, or else a new one."""
        place = " ".join(("-".join(reader.languages), *(str(real_path(path)) for path in reader.files)))
        query = "SELECT name, content, done, counts FROM input WHERE "
        row = self.db.execute(query + "substr(content, 1, length(?)) = ?", (content, content)).fetchone()
        row = row or self.db.execute(query + "name = ?", (place,)).fetchone()
        return row or (place, content, 0, "{}")

    def _add(self, link: Link | None, minimum: int, filters: Sequence[str]) -> str:
        if link is None:
            return "other languages"
        languages, pair = link[::2], (tidy(link[1]), tidy(link[3]))
        if not all(pair):
            return "empty"
        for name in filters:
            if any(FILTERS[name](text, language, minimum) for language, text in zip(languages, pair, strict=True)):
                return name
        ids = [self._sentence(language, text) for language, text in zip(languages, pair, strict=True)]
        insert = "INSERT OR IGNORE INTO link VALUES (?, ?, ?, ?)"
        added = self.db.execute(insert, (*languages, *ids)).rowcount
        self.db.execute(insert, (*languages[::-1], *ids[::-1]))
        return "kept" if added else "duplicate"

    def _sentence(self, language: str, text: str) -> int:
        query = "SELECT id FROM sentence WHERE language = ? AND text = ?"
        found = self.db.execute(query, (language, text)).fetchone()
        if found:
            return found[0]
        insert = "INSERT INTO sentence (language, text, fold) VALUES (?, ?, ?)"
        made = self.db.execute(insert, (language, text, fold(text))).lastrowid
        assert made is not None
        return made

    def signature(self) -> list[tuple[str, str]]:
        """Everything that decides what the corpus holds: inputs, filters and taggers."""
        inputs = self.db.execute("SELECT name, content FROM input ORDER BY name").fetchall()
        return inputs + self.db.execute("SELECT name, value FROM setting ORDER BY name").fetchall()

    # --- links ---

    def pivot(self, through: str, most: int) -> None:
        """Link the translations of each sentence of one language with each other.

        Args:
            most: translations of a sentence into one language that are linked; "Yes." of a subtitle corpus has
                thousands, whose pairs are mostly wrong.
        """
        ranked = (
            "SELECT source, target_language, target, ROW_NUMBER() OVER (PARTITION BY target_language, source"
            " ORDER BY target) AS place FROM link WHERE source_language = ?"
        )
        with self.db:
            # A table of its own, as SQLite would join two such subqueries without an index.
            self.db.execute("DROP TABLE IF EXISTS temp.near")
            self.db.execute(
                "CREATE TEMP TABLE near (source INTEGER, language TEXT, target INTEGER,"
                " PRIMARY KEY (source, language, target)) WITHOUT ROWID"
            )
            self.db.execute(
                f"INSERT INTO near SELECT source, target_language, target FROM ({ranked}) WHERE place <= ?",
                (through, most),
            )
            self.db.execute(
                "INSERT OR IGNORE INTO link SELECT x.language, y.language, x.target, y.target"
                " FROM near AS x JOIN near AS y ON x.source = y.source AND x.language <> y.language"
            )
            self.db.execute("DROP TABLE temp.near")

    def pair_with_itself(self, language: str) -> None:
        """Link every sentence of a language to itself, so that a model may learn to predict its own tags."""
        with self.db:
            insert = "INSERT OR IGNORE INTO link SELECT language, language, id, id FROM sentence WHERE language = ?"
            self.db.execute(insert, (language,))

    def pair_counts(self) -> dict[tuple[str, str], int]:
        """(source language, target language) -> pairs."""
        query = "SELECT source_language, target_language, COUNT(*) FROM link GROUP BY 1, 2 ORDER BY 1, 2"
        return {(source, target): number for source, target, number in self.db.execute(query)}

    def sentences(self, language: str) -> Iterator[str]:
        """The sentences of a language, in the order in which they were read."""
        for (text,) in self.db.execute("SELECT text FROM sentence WHERE language = ? ORDER BY id", (language,)):
            yield text

    def has(self, text: str) -> bool:
        """Whether a sentence is there, in any language; punctuation, case and spaces make no other sentence."""
        return self.db.execute("SELECT 1 FROM sentence WHERE fold = ?", (fold(text),)).fetchone() is not None

    def pairs(self, source: str, target: str) -> Iterator[tuple[str, str]]:
        """The pairs of two languages."""
        query = (
            "SELECT s.text, t.text FROM link JOIN sentence AS s ON s.id = link.source JOIN sentence AS t"
            " ON t.id = link.target WHERE link.source_language = ? AND link.target_language = ?"
        )
        yield from self.db.execute(query, (source, target))

    # --- tags ---

    def use_tagger(self, language: str, fingerprint: str) -> None:
        """Forget the tags that another tagger gave to the sentences of a language."""
        name = f"tagger of {language}"
        if self.setting(name) == fingerprint:
            return
        with self.db:
            self.db.execute("UPDATE sentence SET tags = NULL WHERE language = ? AND tags IS NOT NULL", (language,))
            self.db.execute("INSERT OR REPLACE INTO setting VALUES (?, ?)", (name, fingerprint))

    def untagged(self, language: str) -> int:
        query = "SELECT COUNT(*) FROM sentence WHERE language = ? AND tags IS NULL"
        return self.db.execute(query, (language,)).fetchone()[0]

    def sentences_without_tags(self, language: str, batch: int = 10_000) -> Iterator[tuple[int, str]]:
        """Yield number and text; tags may be given meanwhile."""
        last = 0
        query = "SELECT id, text FROM sentence WHERE language = ? AND tags IS NULL AND id > ? ORDER BY id LIMIT ?"
        while rows := self.db.execute(query, (language, last, batch)).fetchall():
            yield from rows
            last = rows[-1][0]

    def give_tags(self, rows: list[tuple[str, int]]) -> None:
        """Args: rows: (tags, number of the sentence)."""
        with self.db:
            self.db.executemany("UPDATE sentence SET tags = ? WHERE id = ?", rows)

    def tagged_languages(self) -> list[str]:
        """Languages all of whose sentences have tags."""
        query = "SELECT language FROM sentence GROUP BY language HAVING COUNT(*) = COUNT(tags) ORDER BY language"
        return [language for (language,) in self.db.execute(query)]


def fold(text: str) -> bytes:
    """A hash of what :func:`.filters.folded` leaves of a sentence: equal for sentences that are alike."""
    return hashlib.blake2b(folded(text).encode(), digest_size=16).digest()


def _step(trail: str, links: Sequence[Link | None]) -> str:
    """The digest of all links up to these, from that of the links before."""
    return hashlib.blake2b(f"{trail}{links!r}".encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()


def _trail(stream: Iterator[Link | None], done: int) -> str:
    """What :func:`_step` made of the first ``done`` links."""
    trail = ""
    for start in range(0, done, _LINES_PER_TRANSACTION):
        trail = _step(trail, [*islice(stream, min(_LINES_PER_TRANSACTION, done - start))])
    return trail


def _digest(reader: LinkReader) -> str:
    found = hashlib.blake2b(repr(reader).encode(), digest_size=16)
    for path in reader.files:
        with open_binary(path) as stream:
            while block := stream.read(1 << 20):
                found.update(block)
    return found.hexdigest()
