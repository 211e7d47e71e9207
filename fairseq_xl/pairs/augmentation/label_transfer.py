"""Labelled pairs of one language from another's, through translations (Hadgu 2018, section 3.2).

Sentences of the target language whose translations have equal keys match. A labelled pair of the pivot language
passes its label on to the target sentences whose translations have its questions' keys.

Everything is a table of a database beside the output: rows are appended as they are read, then sorted and grouped by
SQLite, whose caches are all the memory that is used, however many sentences there are (its large sorts go to its own
folder for temporary files, which SQLITE_TMPDIR names). Nothing depends on the order of the input: sentences are known
by a seeded hash of their normal form, and that hash is also the lot that decides where there are too many.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from fairseq_xl.io.databases import connect
from fairseq_xl.pairs.augmentation.key import hashed, normal_form

CACHE_MIB = 64
"""Of each of SQLite's caches. With 8, 75,000 sentences take 46 MiB in all and 300,000 take 47; with 64, which sorts
faster, 80 and 175."""

TABLES = """
CREATE TABLE text_read (sentence INTEGER, key INTEGER, line TEXT);
CREATE TABLE label_read (one INTEGER, other INTEGER, question INTEGER, other_question INTEGER, label INTEGER);
CREATE TABLE kept_out (one INTEGER, other INTEGER, PRIMARY KEY (one, other)) WITHOUT ROWID;
CREATE TABLE sentence_kept_out (sentence INTEGER PRIMARY KEY);
"""

# The sentences of a key stand together, in the order of their lots.
GROUPS = """
CREATE TABLE sentence (sentence INTEGER PRIMARY KEY, line TEXT);
INSERT INTO sentence SELECT sentence, min(line) FROM text_read GROUP BY sentence;
CREATE TABLE member (place INTEGER PRIMARY KEY, key INTEGER, sentence INTEGER);
INSERT INTO member (key, sentence)
    SELECT key, sentence FROM text_read
    WHERE sentence NOT IN (SELECT sentence FROM sentence_kept_out) GROUP BY key, sentence ORDER BY key, sentence;
DROP TABLE text_read;
CREATE TABLE shelf (key INTEGER PRIMARY KEY, first INTEGER, size INTEGER);
INSERT INTO shelf SELECT key, min(place), count(*) FROM member GROUP BY key;
"""

# What is said of two keys: how many labelled pairs say yes and no; a key matches itself.
CLAIMS = """
CREATE TABLE claim (one INTEGER, other INTEGER, yes INTEGER, no INTEGER, matched INTEGER);
INSERT INTO claim SELECT key, key, 1, 0, 1 FROM shelf WHERE size > 1;
INSERT INTO claim
    SELECT one, other, sum(label), sum(1 - label), 0
    FROM (SELECT one, other, label FROM label_read GROUP BY one, other, question, other_question, label)
    WHERE one IN (SELECT key FROM shelf) AND other IN (SELECT key FROM shelf)
    GROUP BY one, other;
CREATE TABLE vote (one INTEGER, other INTEGER, yes INTEGER, no INTEGER, matched INTEGER);
CREATE TABLE step (step INTEGER PRIMARY KEY);
"""

# Pairs within a shelf of n, places from 0: first all neighbours, then those two places apart, and so on. Before the
# pairs that are s apart come (s - 1) n - s (s - 1) / 2 others; so many pairs in turn use all sentences alike.
WITHIN = """
INSERT INTO vote
    SELECT x.sentence, y.sentence, claim.yes, claim.no, claim.matched
    FROM claim
    CROSS JOIN shelf ON shelf.key = claim.one
    CROSS JOIN member x ON x.place BETWEEN shelf.first AND shelf.first + shelf.size - 2
    CROSS JOIN step ON step.step BETWEEN 1 AND min(shelf.size - 1, 2 * :limit / shelf.size + 1)
    CROSS JOIN member y ON y.place = x.place + step.step AND y.key = x.key
    WHERE claim.one = claim.other
        AND (step.step - 1) * shelf.size - step.step * (step.step - 1) / 2 + x.place - shelf.first < :limit;
"""

# Pairs across shelves of n >= m: in round s the i-th of the long one meets the (i + s) mod m-th of the short one.
ACROSS = """
INSERT INTO vote
    SELECT min(x.sentence, y.sentence), max(x.sentence, y.sentence), claim.yes, claim.no, claim.matched
    FROM claim
    CROSS JOIN shelf one ON one.key = claim.one
    CROSS JOIN shelf other ON other.key = claim.other
    CROSS JOIN shelf long ON long.key = CASE WHEN one.size >= other.size THEN one.key ELSE other.key END
    CROSS JOIN shelf short ON short.key = CASE WHEN one.size >= other.size THEN other.key ELSE one.key END
    CROSS JOIN member x ON x.place BETWEEN long.first AND long.first + min(long.size, :limit) - 1
    CROSS JOIN step ON step.step
        BETWEEN 0 AND min(short.size - 1, (:limit - 1 - (x.place - long.first)) / long.size)
    CROSS JOIN member y ON y.place = short.first + (x.place - long.first + step.step) % short.size
    WHERE claim.one <> claim.other AND x.sentence <> y.sentence;
"""

PAIRS = """
CREATE TABLE pair (one INTEGER, other INTEGER, yes INTEGER, no INTEGER, matched INTEGER);
INSERT INTO pair
    SELECT one, other, sum(yes), sum(no), max(matched) FROM vote GROUP BY one, other;
CREATE TABLE minted (lot INTEGER, one INTEGER, other INTEGER, label INTEGER, matched INTEGER);
"""

KEEP_OUT = """
DELETE FROM pair WHERE EXISTS (SELECT 1 FROM kept_out k WHERE k.one = pair.one AND k.other = pair.other)
"""

DECISIONS = {"drop": "yes = 0 OR no = 0", "majority": "yes <> no"}
"""Which pairs have a label, of those with both: by the names of the option."""


@dataclass(frozen=True)
class Settings:
    """How pairs are minted.

    Attributes:
        per_key: at most so many matching pairs of the sentences of one key.
        per_pair: at most so many pairs of the sentences of two keys that labelled pairs connect.
        conflicts: what becomes of a pair with both labels: drop it, or majority: keep what more labelled pairs say
            (an equal key counts as one), and drop it only where they are as many.
        balance: of the label with more pairs keep only as many as the other has.
        keep_sentences_out: no pair with a sentence of the pairs to keep out, not only not those pairs.
        seed: of the lots.
    """

    per_key: int = 20
    per_pair: int = 20
    conflicts: str = "drop"
    balance: bool = False
    keep_sentences_out: bool = False
    seed: int = 1


@dataclass(frozen=True)
class Minted:
    """A pair as it is written: ``origin`` is match or transferred."""

    left: str
    right: str
    label: int
    left_translation: str
    right_translation: str
    origin: str


class Mint:
    """A database at work.

    Args:
        path: of the database, a file that does not exist; the caller removes it.
        key: a sentence of the pivot language -> its key, or None.
        settings: how pairs are minted.
    """

    def __init__(self, path: Path, key: Callable[[str], int | None], settings: Settings):
        self.key, self.settings = key, settings
        self.counts: dict[str, int] = {}
        self.database = connect(path, isolation_level=None)
        # Nobody needs the database after an interruption, so nothing guards it against one.
        for setting in (
            *("journal_mode = OFF", "synchronous = OFF", "locking_mode = EXCLUSIVE"),
            *("temp_store = FILE", f"cache_size = {-1024 * CACHE_MIB}"),
        ):
            self.database.execute(f"PRAGMA {setting}")
        self.database.executescript(TABLES)
        self.database.create_function("lot", 2, self._lot, deterministic=True)

    def close(self) -> None:
        self.database.close()

    def read_sentences(self, sentences: Iterable[tuple[str, str]]) -> None:
        """Take sentences of the target language with their translations.

        Those without a word, or whose translation has no key, are counted and left out.
        """

        def found() -> Iterator[tuple[int, int, str]]:
            for text, translation in sentences:
                self._count("sentences")
                normal, key = normal_form(text), self.key(translation)
                if not normal or key is None:
                    self._count("sentences without a key")
                    continue
                line = "\t".join(" ".join(part.split()) for part in (text, translation))
                yield self._hashed(normal), key, line

        self._append("text_read", found())

    def read_labelled(self, pairs: Iterable[tuple[str, str, int]]) -> None:
        """Take labelled pairs of the pivot language; those of which a question has no key are left out."""

        def found() -> Iterator[tuple[int, ...]]:
            for left, right, label in pairs:
                self._count("labelled pairs")
                left_key, right_key = self.key(left), self.key(right)
                if left_key is None or right_key is None:
                    self._count("labelled pairs without a key")
                    continue
                questions = (self._hashed(normal_form(text)) for text in (left, right))
                (key, one), (other_key, other) = sorted(zip((left_key, right_key), questions, strict=True))
                yield key, other_key, one, other, label

        self._append("label_read", found())

    def keep_out(self, pairs: Iterable[tuple[str, str]]) -> None:
        """Never mint one of these pairs of the target language."""

        def found() -> Iterator[tuple[int, int]]:
            for left, right in pairs:
                one, other = sorted(self._hashed(normal_form(text)) for text in (left, right))
                yield one, other

        self._append("kept_out", found())

    def pairs(self) -> Iterator[Minted]:
        """Mint: once, after everything was read. Pairs come in the order of their lots."""
        settings, run = self.settings, self.database.executescript
        if settings.keep_sentences_out:
            for side in ("one", "other"):
                run(f"INSERT OR IGNORE INTO sentence_kept_out SELECT {side} FROM kept_out")
        run(GROUPS + CLAIMS)
        self._steps()
        self.database.execute(WITHIN, {"limit": settings.per_key})
        self.database.execute(ACROSS, {"limit": settings.per_pair})
        run(PAIRS)
        self.counts["pairs kept out"] = self.database.execute(KEEP_OUT).rowcount
        self.database.execute(
            "INSERT INTO minted SELECT lot(one, other), one, other, yes > no, matched AND yes > no "
            f"FROM pair WHERE {DECISIONS[settings.conflicts]}"
        )
        self._count_tables()
        share = -1
        if settings.balance:
            share = min(self._number(f"FROM minted WHERE label = {label}") for label in (0, 1))
        yield from self._written(share)

    def _steps(self) -> None:
        """How many rounds the largest shelves can need."""
        largest = self._number("FROM shelf", "max(size)")
        most = max(2 * self.settings.per_key + 1, self.settings.per_pair)
        numbers = range(min(largest, most) + 1)
        self.database.executemany("INSERT INTO step VALUES (?)", ((n,) for n in numbers))

    def _written(self, share: int) -> Iterator[Minted]:
        """The pairs, of each label the first ``share`` by lot (-1: all)."""
        chosen = " UNION ALL ".join(
            f"SELECT * FROM (SELECT * FROM minted WHERE label = {label} ORDER BY lot, one, other LIMIT {share})"
            for label in (0, 1)
        )
        # Which sentence comes first is drawn as well: the last bits of their lots.
        rows = self.database.execute(
            f"SELECT x.line, y.line, p.label, p.matched, (p.one & 1) = (p.other & 1) FROM ({chosen}) p "
            "CROSS JOIN sentence x ON x.sentence = p.one CROSS JOIN sentence y ON y.sentence = p.other "
            "ORDER BY p.lot, p.one, p.other"
        )
        for one, other, label, matched, swapped in rows:
            left, right = (other, one) if swapped else (one, other)
            origin = "match" if matched else "transferred"
            self._count(f"written: {origin}, label {label}")
            (left, left_translation), (right, right_translation) = (left.split("\t"), right.split("\t"))
            yield Minted(left, right, label, left_translation, right_translation, origin)

    def _count_tables(self) -> None:
        for name, what in {
            "distinct sentences": "FROM sentence",
            "sentences kept out": "FROM sentence WHERE sentence IN (SELECT sentence FROM sentence_kept_out)",
            "keys": "FROM shelf",
            "keys of several sentences": "FROM shelf WHERE size > 1",
            "pairs": "FROM pair",
            "pairs with both labels": "FROM pair WHERE yes > 0 AND no > 0",
            "pairs with both labels, dropped": "FROM pair WHERE yes > 0 AND no > 0 AND NOT "
            f"({DECISIONS[self.settings.conflicts]})",
        }.items():
            self.counts[name] = self._number(what)

    def _number(self, what: str, of: str = "count(*)") -> int:
        return self.database.execute(f"SELECT {of} {what}").fetchone()[0] or 0

    def _append(self, table: str, rows: Iterable[tuple[Any, ...]]) -> None:
        cursor = self.database.execute(f"SELECT * FROM {table} LIMIT 0")
        places = ", ".join("?" * len(cursor.description))
        self.database.execute("BEGIN")
        self.database.executemany(f"INSERT OR IGNORE INTO {table} VALUES ({places})", rows)
        self.database.execute("COMMIT")

    def _hashed(self, normal: str) -> int:
        return hashed(normal, self.settings.seed)

    def _lot(self, one: int, other: int) -> int:
        return hashed(f"{one} {other}", self.settings.seed)

    def _count(self, name: str) -> None:
        self.counts[name] = self.counts.get(name, 0) + 1
