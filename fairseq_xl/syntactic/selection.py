"""Which pairs of a corpus are trained on, which validate, and which belong to neither.

A sentence of an exclusion list is never trained on, on neither side. Validation sentences are no training sentences,
on neither side either: they are chosen with all their translations, and a pair of which only one sentence is among
them is left out.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from fairseq_xl.syntactic.corpus import Corpus, fold

VALID_SHARE = 20
"""At most one in so many pairs validates."""

_FIT = (
    " FROM link JOIN sentence AS s ON s.id = link.source JOIN sentence AS t ON t.id = link.target"
    " WHERE link.source_language = ? AND link.target_language = ?"
    " AND link.source NOT IN excluded AND link.target NOT IN excluded"
)
_PART = {
    "train": " AND link.source NOT IN held AND link.target NOT IN held",
    "valid": " AND link.source IN held AND link.target IN held",
}


@dataclass(frozen=True)
class Row:
    source: str
    target: str
    tags: str | None


class Selection:
    """The chosen parts of an open corpus, which itself is not changed.

    Args:
        exclude: sentences that must not be trained on; punctuation, case and spaces make no other sentence.
        valid: validation pairs of each two languages at most.
        seed: chooses among them.
        most: training pairs of each two languages at most (0: all); the smaller choice is part of the larger.
    """

    def __init__(
        self,
        corpus: Corpus,
        pairs: Iterable[tuple[str, str]],
        exclude: Iterable[str],
        valid: int,
        seed: int,
        pivot: str,
        most: int = 0,
    ) -> None:
        self.corpus, self.pairs, self.seed, self.most = corpus, sorted(pairs), seed, most
        self._db = corpus.db
        self._db.execute("DROP TABLE IF EXISTS temp.excluded")
        self._db.execute("DROP TABLE IF EXISTS temp.held")
        self._db.execute("CREATE TEMP TABLE excluded (id INTEGER PRIMARY KEY)")
        self._db.execute("CREATE TEMP TABLE held (id INTEGER PRIMARY KEY)")
        self.folds = {fold(text) for text in exclude}
        query = "INSERT OR IGNORE INTO excluded SELECT id FROM sentence WHERE fold = ?"
        self._db.executemany(query, ((found,) for found in sorted(self.folds)))
        (self.excluded,) = self._db.execute("SELECT COUNT(*) FROM excluded").fetchone()
        self._hold_out(valid, pivot)

    def _hold_out(self, valid: int, pivot: str) -> None:
        """Choose validation sentences: those of the pivot language with their translations, the rarest pairs first."""
        counts = self.corpus.pair_counts()
        unordered = {tuple(sorted(pair)) for pair in self.pairs}
        for pair in sorted(unordered, key=lambda two: (counts.get(two, 0), two)):
            wanted = min(valid, counts.get(pair, 0) // VALID_SHARE)
            missing = wanted - self.count("valid", pair)
            while missing > 0 and self._hold(pair, pivot, missing):
                missing = wanted - self.count("valid", pair)

    def _hold(self, pair: tuple[str, str], pivot: str, number: int) -> int:
        """Hold out so many more sentences that join the two languages, and their translations; how many there were."""
        one, other = pair
        centre = other if pivot == other else one
        query = (
            "SELECT DISTINCT link.source, s.fold FROM link JOIN sentence AS s ON s.id = link.source WHERE"
            " link.source_language = ? AND link.target_language = ? AND link.source NOT IN held"
            " AND link.source NOT IN excluded"
        )
        languages = (centre, one if centre == other else other)
        if pivot not in pair:
            joined = "SELECT source FROM link WHERE source_language = ? AND target_language = ?"
            through = self._db.execute(f"{query} AND link.source IN ({joined}) LIMIT 1", (pivot, one, pivot, other))
            if through.fetchone():
                query, languages = f"{query} AND link.source IN ({joined})", (pivot, one, pivot, other)
        query += f" ORDER BY {self._order('s')} LIMIT {number}"
        centres = self._db.execute(query, languages).fetchall()
        for centre, _ in centres:
            self._db.execute("INSERT OR IGNORE INTO held VALUES (?)", (centre,))
        languages = {language for two in self.pairs for language in two}
        for centre, _ in centres:
            language = self._db.execute("SELECT language FROM sentence WHERE id = ?", (centre,)).fetchone()[0]
            for neighbour in sorted(languages):
                self._db.execute(
                    "INSERT OR IGNORE INTO held SELECT target FROM link WHERE source_language = ? AND"
                    " target_language = ? AND source = ?",
                    (language, neighbour, centre),
                )
        return len(centres)

    def count(self, part: str, pair: tuple[str, str]) -> int:
        """Pairs of a part, before ``most`` is applied."""
        return self._db.execute("SELECT COUNT(*)" + _FIT + _PART[part], pair).fetchone()[0]

    def rows(self, part: str, pair: tuple[str, str]) -> Iterator[Row]:
        """The pairs of a part, always in the same order."""
        query = "SELECT s.text, t.text, t.tags" + _FIT + _PART[part]
        if part == "train" and self.most:
            query += f" ORDER BY {self._order('s')}, {self._order('t')} LIMIT {self.most}"
        for found in self._db.execute(query, pair):
            yield Row(*found)

    def training_sentences(self) -> Iterator[str]:
        """Every sentence of the languages of the pairs that may be trained on, once."""
        languages = sorted({language for pair in self.pairs for language in pair})
        for language in languages:
            query = (
                "SELECT text FROM sentence WHERE language = ? AND id NOT IN excluded AND id NOT IN held ORDER BY id"
            )
            for (text,) in self._db.execute(query, (language,)):
                yield text

    def _order(self, table: str) -> str:
        """An order that nothing but the sentence and the seed decides: a hash of it, read from another byte on."""
        return f"substr({table}.fold, {1 + self.seed % 8}), {table}.text"
