"""Labelled pairs of one language from another's, by label transfer through translations (Hadgu 2018, section 3.2).

Sentences of the target language whose translations have equal keys match. A labelled pair of the pivot language
passes its label on to the target sentences whose translations have its questions' keys.

DuckDB does the work in a folder beside the output. It keeps to MEMORY and spills the rest to the disk, however many
sentences there are. Nothing depends on the order of the input: sentences are known by a seeded hash of their normal
form. Their places by that hash decide which pairs are made where there are too many.
"""

from __future__ import annotations

import shutil
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import islice, starmap
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from fairseq_xl.io.errors import InputError
from fairseq_xl.io.lines import utf8_name
from fairseq_xl.io.packages import require
from fairseq_xl.io.settings import GREATEST_SEED, option
from fairseq_xl.pairs.augmentation.key import hashed, normal_form

MEMORY = "1GB"
"""DuckDB's memory. 256 MB suffice for three million sentences, but not for ten million."""
BATCH = 50_000
"""Rows that are read or written at once."""

DECISIONS = {"drop": "yes = 0 OR no = 0", "majority": "yes <> no"}
"""The option's value -> which pairs with both labels keep one."""

TABLES = {
    "sentence_read": ("sentence", "key", "line"),
    "label_read": ("key", "other_key", "question", "other_question", "label"),
    "excluded": ("one", "other"),
}

# Sentences of a key have places from 0.
MEMBERS = """
CREATE TABLE sentence AS SELECT sentence, min(line) AS line FROM sentence_read GROUP BY sentence;
CREATE TABLE excluded_sentence AS
    SELECT DISTINCT unnest([one, other]) AS sentence FROM excluded WHERE getvariable('exclude_sentences');
CREATE TABLE member AS
    SELECT *, row_number() OVER (PARTITION BY key ORDER BY sentence) - 1 AS place,
        count(*) OVER (PARTITION BY key) AS size
    FROM (SELECT DISTINCT key, sentence FROM sentence_read ANTI JOIN excluded_sentence USING (sentence));
CREATE TABLE sizes AS SELECT key, count(*) AS size FROM member GROUP BY key;
CREATE TABLE claim AS
    SELECT key AS one, other_key AS other, sum(label) AS yes, sum(1 - label) AS no
    FROM (SELECT DISTINCT * FROM label_read) GROUP BY ALL;
"""

# Pairs within a key of n sentences: first those of neighbouring places, then those two places apart, and so on.
# Before the pairs that are s apart come (s - 1) n - s (s - 1) / 2 others. So many in turn use all sentences alike.
WITHIN = """
SELECT x.sentence AS x, y.sentence AS y, 1 + coalesce(yes, 0) AS yes, coalesce(no, 0) AS no, true AS matched
FROM (
    SELECT *, unnest(range(1, least(size, 2 * getvariable('per_key') // size + 2))) AS step FROM member WHERE size > 1
) x
JOIN member y ON y.key = x.key AND y.place = x.place + x.step
LEFT JOIN claim ON claim.one = x.key AND claim.other = x.key
WHERE (x.step - 1) * x.size - x.step * (x.step - 1) // 2 + x.place < getvariable('per_key')
"""

# Pairs across keys of n >= m sentences: in round s the i-th of the long one meets the (i + s) mod m-th of the short.
ACROSS = """
SELECT x.sentence AS x, y.sentence AS y, yes, no, false AS matched
FROM (
    SELECT yes, no, short, m, place, sentence,
        unnest(range(least(m, (getvariable('per_pair') - 1 - place) // n + 1))) AS round
    FROM (
        SELECT yes, no, greatest(a.size, b.size) AS n, least(a.size, b.size) AS m,
            if(a.size >= b.size, one, other) AS long, if(a.size >= b.size, other, one) AS short
        FROM claim JOIN sizes a ON a.key = one JOIN sizes b ON b.key = other WHERE one <> other
    )
    JOIN member ON member.key = long AND place < getvariable('per_pair')
) x
JOIN member y ON y.key = x.short AND y.place = (x.place + x.round) % x.m
WHERE x.sentence <> y.sentence
"""

PAIRS = f"""
CREATE TABLE made AS
    SELECT least(x, y) AS one, greatest(x, y) AS other, sum(yes) AS yes, sum(no) AS no, bool_or(matched) AS matched
    FROM ({WITHIN} UNION ALL {ACROSS}) GROUP BY ALL;
CREATE TABLE pair AS FROM made ANTI JOIN excluded USING (one, other);
CREATE TABLE labelled AS
    SELECT one, other, if(yes > no, 1, 0) AS label, if(matched AND yes > no, 'match', 'transferred') AS origin,
        md5_number_lower(concat_ws(' ', getvariable('seed'), one, other)) AS lot
    FROM pair WHERE {{decision}};
"""

COUNTS = {
    "distinct sentences": "FROM sentence",
    "excluded sentences": "FROM sentence SEMI JOIN excluded_sentence USING (sentence)",
    "keys": "FROM sizes",
    "keys of several sentences": "FROM sizes WHERE size > 1",
    "excluded pairs": "FROM made SEMI JOIN excluded USING (one, other)",
    "pairs": "FROM pair",
    "pairs with both labels": "FROM pair WHERE yes > 0 AND no > 0",
    "pairs with both labels, dropped": "FROM pair WHERE yes > 0 AND no > 0 AND NOT ({decision})",
}

BALANCED = """
QUALIFY row_number() OVER (PARTITION BY label ORDER BY lot, one, other) <= (
    SELECT least(count(*) FILTER (label = 0), count(*) FILTER (label = 1)) FROM labelled)
"""

# Which sentence comes first is drawn as well.
WRITTEN = """
SELECT x.line, y.line, label, origin FROM (SELECT * FROM labelled {balanced}) chosen
JOIN sentence x ON x.sentence = if(lot % 2 = 0, one, other) JOIN sentence y ON y.sentence = if(lot % 2 = 0, other, one)
ORDER BY lot, one, other
"""


@dataclass(kw_only=True)
class Settings:
    """How labels are transferred."""

    per_key: int = option(
        "at most N matching pairs of the sentences of one key. Lower it where a few frequent questions make up most "
        "of the output",
        20,
        low=1,
        metavar="N",
    )
    per_pair: int = option(
        "at most N pairs of the sentences of two keys that labelled pairs connect", 20, low=1, metavar="N"
    )
    conflicts: str = option(
        "what to do with a pair that gets both labels: drop it, or let the labelled pairs vote (majority). A common "
        "key counts as one vote, and a tie drops the pair",
        "drop",
        choices=tuple(DECISIONS),
    )
    balance: bool = option("draw as many pairs of the more frequent label as there are of the other", False)
    exclude_sentences: bool = option("keep the sentences of --exclude out altogether, not only their pairs", False)
    seed: int = option("of all that is drawn", 1, low=0, high=GREATEST_SEED)


class LabelledPair(NamedTuple):
    """A pair as it is written. ``origin`` is match (equal keys) or transferred."""

    left: str
    right: str
    label: int
    left_translation: str
    right_translation: str
    origin: str


@contextmanager
def label_transfer(folder: Path, key: Callable[[str], int | None], settings: Settings) -> Iterator[LabelTransfer]:
    """A :class:`LabelTransfer` whose database is in a folder of its own, which is removed at the end.

    Args:
        folder: a new one.
        key, settings: see :class:`LabelTransfer`.

    Raises:
        InputError: DuckDB is missing, the folder's name is not UTF-8, or its disk is full or not writable.
    """
    duckdb = require("duckdb", "pairs", "label transfer")
    limits = {"memory_limit": MEMORY, "threads": 4, "temp_directory": str(folder), "preserve_insertion_order": False}
    try:
        folder.mkdir(parents=True)
        with duckdb.connect(utf8_name(folder / "pairs.duckdb"), config=limits) as database:
            yield LabelTransfer(database, key, settings)
    except (duckdb.OperationalError, duckdb.FatalException) as error:
        raise InputError(f"the database {folder} cannot be used: {error}") from error
    finally:
        shutil.rmtree(folder, ignore_errors=True)


class LabelTransfer:
    """Take sentences and labelled pairs, and give the pairs that follow from them.

    Args:
        database: a connection to an empty database of DuckDB.
        key: a sentence of the pivot language -> its key, or None.
        settings: how labels are transferred.
    """

    def __init__(self, database: Any, key: Callable[[str], int | None], settings: Settings):
        self.database, self.key, self.settings = database, key, settings
        self.counts: Counter[str] = Counter()
        for table, columns in TABLES.items():
            kinds = ", ".join(f"{name} {'VARCHAR' if name == 'line' else 'BIGINT'}" for name in columns)
            self.database.execute(f"CREATE TABLE {table} ({kinds})")
        self.database.execute("SET enable_progress_bar = false")  # not beside ours
        for name in ("per_key", "per_pair", "exclude_sentences", "seed"):
            self.database.execute(f"SET VARIABLE {name} = {getattr(settings, name)}")

    def read_sentences(self, sentences: Iterable[tuple[str, str]]) -> None:
        """Take sentences of the target language with their translations.

        Those without a word, or whose translation has no key, are counted and left out.
        """

        def row(text: str, translation: str) -> tuple[int, int, str] | None:
            normal, key = normal_form(text), self.key(translation)
            if not normal or key is None:
                return None
            line = "\t".join(" ".join(side.split()) for side in (text, translation))
            return hashed(normal, self.settings.seed), key, line

        self._append("sentence_read", "sentences", starmap(row, sentences))

    def read_labelled(self, pairs: Iterable[tuple[str, str, int]]) -> None:
        """Take labelled pairs of the pivot language. Those with a question without a key are left out."""

        def row(left: str, right: str, label: int) -> tuple[int | None, ...] | None:
            keys = self.key(left), self.key(right)
            if keys[0] is None or keys[1] is None:
                return None
            (key, one), (other_key, other) = sorted(zip(keys, self._hashed(left, right), strict=True))
            return key, other_key, one, other, label

        self._append("label_read", "labelled pairs", starmap(row, pairs))

    def exclude(self, pairs: Iterable[tuple[str, str]]) -> None:
        """Make none of these pairs of the target language, in either order."""
        self._append("excluded", "pairs to exclude", (tuple(sorted(self._hashed(*pair))) for pair in pairs))

    def pairs(self) -> Iterator[LabelledPair]:
        """The labelled pairs in a random order. Call this once, after everything was read."""
        decision = DECISIONS[self.settings.conflicts]
        self.database.execute(MEMBERS + PAIRS.format(decision=decision))
        for name, what in COUNTS.items():
            found = self.database.execute(f"SELECT count(*) {what.format(decision=decision)}").fetchone()
            self.counts[name] = found[0]
        self.database.execute(WRITTEN.format(balanced=BALANCED if self.settings.balance else ""))
        while rows := self.database.fetchmany(BATCH):
            for left, right, label, origin in rows:
                self.counts[f"written: {origin}, label {label}"] += 1
                (left, left_translation), (right, right_translation) = left.split("\t"), right.split("\t")
                yield LabelledPair(left, right, label, left_translation, right_translation, origin)

    def _hashed(self, *texts: str) -> list[int]:
        return [hashed(normal_form(text), self.settings.seed) for text in texts]

    def _append(self, table: str, name: str, rows: Iterator[tuple[Any, ...] | None]) -> None:
        """Put rows into a table and count them by their name. Rows that are None count as without a key."""
        names = TABLES[table]
        while batch := list(islice(rows, BATCH)):
            found = [row for row in batch if row is not None]
            self.counts[name] += len(batch)
            self.counts[f"{name} without a key"] += len(batch) - len(found)
            if found:
                columns = dict(zip(names, zip(*found, strict=True), strict=True))
                kinds = {column: object if column == "line" else np.int64 for column in names}
                arrays = {column: np.array(cells, kinds[column]) for column, cells in columns.items()}
                self.database.register("batch", arrays)
                self.database.execute(f"INSERT INTO {table} SELECT {', '.join(names)} FROM batch")
                self.database.unregister("batch")
