"""Which pairs of a corpus are trained on, which validate, and which belong to neither.

A sentence of an exclusion list is on neither side of any pair. Validation sentences are on neither side of a training
pair. They are chosen together with all their translations, and a pair with only one sentence among them is left out.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from hashlib import blake2b

from fairseq_xl.syntactic.data.corpus import Corpus, fold

VALID_SHARE = 20
"""At most one in so many pairs that are not excluded validates."""

_SENTENCES = " JOIN sentence AS s ON s.id = link.source JOIN sentence AS t ON t.id = link.target"
_FIT = (
    " WHERE link.source_language = ? AND link.target_language = ?"
    " AND link.source NOT IN excluded AND link.target NOT IN excluded"
)
_OF_SPLIT = {
    "train": " AND link.source NOT IN held AND link.target NOT IN held",
    "valid": " AND link.source IN held AND link.target IN held",
}
_LINKED = "SELECT source FROM link WHERE source_language = ? AND target_language = ?"


@dataclass(frozen=True)
class Row:
    """A pair and the tags of its target sentence."""

    source: str
    target: str
    tags: str


class Selection:
    """The chosen pairs of an open corpus, which itself is not changed.

    Args:
        pairs: (source language, target language).
        exclude: sentences that must not be trained on; punctuation, case and spaces make no other sentence.
        valid: validation pairs of each two languages that are wanted; as their translations come along, there can
            be more.
        seed: chooses among them.
        pivot: the language whose sentences join the others.
    """

    def __init__(
        self,
        corpus: Corpus,
        pairs: Iterable[tuple[str, str]],
        exclude: Iterable[str],
        valid: int,
        seed: int,
        pivot: str,
    ) -> None:
        self.pairs, self.folds = sorted(pairs), {fold(text) for text in exclude}
        self._db = corpus.db
        # An order that only the sentence and the seed decide: its hash with the seed as a key.
        key = str(seed).encode()
        self._db.create_function("drawn", 1, lambda mark: blake2b(mark, key=key).digest(), deterministic=True)
        for name in ("excluded", "held"):
            self._db.execute(f"DROP TABLE IF EXISTS temp.{name}")
            self._db.execute(f"CREATE TEMP TABLE {name} (id INTEGER PRIMARY KEY)")
        query = "INSERT OR IGNORE INTO excluded SELECT id FROM sentence WHERE fold = ?"
        self._db.executemany(query, ((found,) for found in self.folds))
        (self.excluded,) = self._db.execute("SELECT COUNT(*) FROM excluded").fetchone()
        self._hold_out(valid, pivot)

    def count(self, split: str, pair: tuple[str, str]) -> int:
        """Pairs of a split (train or valid)."""
        return self._db.execute("SELECT COUNT(*) FROM link" + _FIT + _OF_SPLIT[split], pair).fetchone()[0]

    def rows(self, split: str, pair: tuple[str, str]) -> Iterator[Row]:
        """The pairs of a split, always in the same order."""
        query = "SELECT s.text, t.text, t.tags FROM link" + _SENTENCES + _FIT + _OF_SPLIT[split]
        for found in self._db.execute(query, pair):
            yield Row(*found)

    def training_sentences(self, most: int) -> Iterator[str]:
        """Every sentence of the pairs' languages that may be trained on, once; of more than ``most`` so many, which
        are evenly spaced."""
        fit = " FROM sentence WHERE language = ? AND id NOT IN excluded AND id NOT IN held"
        languages = sorted({language for pair in self.pairs for language in pair})
        total = sum(self._db.execute(f"SELECT COUNT(*) {fit}", (language,)).fetchone()[0] for language in languages)
        number = 0
        for language in languages:
            for (text,) in self._db.execute(f"SELECT text {fit} ORDER BY id", (language,)):
                number += 1
                if total <= most or number * most // total > (number - 1) * most // total:
                    yield text

    def _hold_out(self, valid: int, pivot: str) -> None:
        """Choose validation sentences, for the rarest pairs first: theirs serve the others, too."""
        two = {(min(pair), max(pair)) for pair in self.pairs}
        fit = "SELECT COUNT(*) FROM link" + _FIT
        counts = {pair: self._db.execute(fit, pair).fetchone()[0] for pair in two}
        for pair in sorted(two, key=lambda pair: (counts[pair], pair)):
            wanted = min(valid, counts[pair] // VALID_SHARE)
            while (missing := wanted - self.count("valid", pair)) > 0:
                centres = self._joining(pair, pivot, missing)
                if not centres:
                    break
                self._hold(centres)

    def _joining(self, pair: tuple[str, str], pivot: str, number: int) -> list[tuple[str, int]]:
        """(language, number) of sentences that have translations in a pair's languages, or are one of them."""
        one, other = pair
        query = "SELECT id FROM sentence AS s WHERE id NOT IN held AND id NOT IN excluded AND id IN ({})"
        query += f" ORDER BY drawn(s.fold), s.text LIMIT {number}"
        if pivot not in pair:
            both = f"{_LINKED} INTERSECT {_LINKED}"
            found = self._db.execute(query.format(both), (pivot, one, pivot, other)).fetchall()
            if found:
                return [(pivot, sentence) for (sentence,) in found]
        centre, end = (other, one) if pivot == other else pair
        return [(centre, sentence) for (sentence,) in self._db.execute(query.format(_LINKED), (centre, end))]

    def _hold(self, centres: list[tuple[str, int]]) -> None:
        """Hold out sentences with their translations."""
        languages = {language for pair in self.pairs for language in pair}
        query = (
            "INSERT OR IGNORE INTO held SELECT target FROM link"
            " WHERE source_language = ? AND target_language = ? AND source = ?"
        )
        self._db.executemany("INSERT OR IGNORE INTO held VALUES (?)", ((sentence,) for _, sentence in centres))
        for language, sentence in centres:
            self._db.executemany(query, ((language, neighbour, sentence) for neighbour in languages))
