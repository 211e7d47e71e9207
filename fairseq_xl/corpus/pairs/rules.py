"""Which pairs of sentences may become negatives, by their texts alone.

A negative is a sentence beside the counterpart of another one, its candidate.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any, NamedTuple, Protocol

import numpy as np
from scipy import sparse

from fairseq_xl.corpus.pairs.positives import Positives
from fairseq_xl.text.words import punctuation, words


class Rule(Protocol):
    """Which candidates a sentence may have, or may not."""

    def __call__(self, left: np.ndarray, right: np.ndarray) -> np.ndarray:
        """(K,) bool for numbers (K,) of sentences and of their candidates."""


class Limits(Protocol):
    """The settings that rules are made of; every step that searches for negatives has them."""

    near: float
    length: float
    overlap: float


class Rules(NamedTuple):
    """What candidates must keep."""

    near_duplicates: Rule
    """What is never a negative. It is asked last, about few at a time, because it costs most."""
    fits: tuple[Rule, ...]
    """What each negative must be, the cheapest first."""


def rules_of(positives: Positives, limits: Limits) -> Rules:
    """The rules that settings ask for, of the pairs of a corpus."""
    fits = Lengths(positives, limits.length), Overlaps(positives, limits.overlap)
    return Rules(NearDuplicates(positives, limits.near), fits)


class NearDuplicates:
    """Which pairs of sentences mean the same, or nearly, and must not become negatives.

    Sentences q and c do if one text of the other language is a counterpart of both somewhere. They also do if the
    word-frequency cosine of their texts, or that of their counterparts, is ``near`` or more.
    """

    def __init__(self, positives: Positives, near: float):
        self.near = near
        self.texts = [_unit_counts([words(t) for t in side]) for side in (positives.first, positives.second)]
        self.beside = _counts([sorted(keys) for keys in positives.seconds])

    def __call__(self, left: np.ndarray, right: np.ndarray) -> np.ndarray:
        """(K,) bool for numbers (K,) of both sentences."""
        same = _products(self.beside, self.beside, left, right) > 0
        for side in self.texts:
            same |= _products(side, side, left, right) >= self.near
        return same


class Lengths:
    """Which sentences' counterparts are about as long as a sentence's own.

    Length tells a translation from another sentence without the words. Its unit here is the standard deviation of the
    difference that a sentence and its counterpart have, in the logarithm of characters.

    Args:
        positives: the pairs of the corpus.
        widest: units that a negative may be off. 0 allows any length.
    """

    def __init__(self, positives: Positives, widest: float):
        first, self.second = (np.log1p([len(t) for t in side]) for side in (positives.first, positives.second))
        self.widest = widest * (self.second - first).std() if widest else np.inf

    def __call__(self, left: np.ndarray, right: np.ndarray) -> np.ndarray:
        """(K,) bool for numbers (K,) of the sentence and of the one whose counterpart is its candidate."""
        return np.abs(self.second[right] - self.second[left]) <= self.widest


class Overlaps:
    """Which sentences' counterparts share about as much with a sentence as its own counterpart does.

    Names, numbers, punctuation and what languages write alike tell a translation from another sentence. Shared is the
    share that the words of both sentences have of the words of either (Jaccard's index), without case. The share of
    punctuation counts each mark as often as it is there.

    Args:
        positives: the pairs of the corpus.
        widest: by how much a negative's shares may differ from the positive's. 1 allows any.
    """

    def __init__(self, positives: Positives, widest: float):
        sides = positives.first, positives.second
        self.widest = widest
        self.shares: list[_Shares] = []
        if widest < 1:
            self.shares.append(_Shares(*([sorted(set(words(text))) for text in side] for side in sides)))
            self.shares.append(_Shares(*([_numbered(punctuation(text)) for text in side] for side in sides)))

    def __call__(self, left: np.ndarray, right: np.ndarray) -> np.ndarray:
        """(K,) bool, as :class:`Lengths` has it."""
        found = np.ones(len(left), bool)
        for share in self.shares:
            found &= np.abs(share(left, right) - share.own[left]) <= self.widest
        return found


class _Shares:
    """Jaccard's index of what is in sentences of one side and of the other.

    Args:
        first, second: (N,) the different items of each sentence.
    """

    def __init__(self, first: Sequence[Sequence[Any]], second: Sequence[Sequence[Any]]):
        both = _counts([*first, *second])
        self.first, self.second = both[: len(first)], both[len(first) :]
        self.sizes = np.array([len(items) for items in first]), np.array([len(items) for items in second])
        everyone = np.arange(len(first))
        self.own = self(everyone, everyone)

    def __call__(self, left: np.ndarray, right: np.ndarray) -> np.ndarray:
        """(K,) for numbers (K,) of sentences of the first and of the second side.

        It is 0 where both have none. So a pair without marks fits any counterpart whose marks are not shared.
        """
        shared = _products(self.first, self.second, left, right)
        return shared / np.maximum(self.sizes[0][left] + self.sizes[1][right] - shared, 1)


def _numbered(counts: Counter[str]) -> list[tuple[str, int]]:
    """Each mark as often as it is there, as different items."""
    return [(mark, k) for mark, count in counts.items() for k in range(count)]


def _counts(rows: Sequence[Sequence[Any]]) -> sparse.csr_matrix:
    """(N, V) how often each item is in each row."""
    known: dict[Any, int] = {}
    columns = [known.setdefault(item, len(known)) for row in rows for item in row]
    places = np.repeat(np.arange(len(rows)), [len(row) for row in rows])
    width = max(columns, default=-1) + 1
    return sparse.csr_matrix((np.ones(len(columns), np.float32), (places, columns)), (len(rows), width))


def _unit_counts(rows: Sequence[Sequence[str]]) -> sparse.csr_matrix:
    """The same with rows of length 1. A row without words has zeros."""
    counts = _counts(rows)
    norms = np.sqrt(np.asarray(counts.multiply(counts).sum(1)).ravel())
    return (sparse.diags(1 / np.where(norms > 0, norms, 1)) @ counts).tocsr()


def _products(first: sparse.csr_matrix, second: sparse.csr_matrix, left: np.ndarray, right: np.ndarray) -> np.ndarray:
    """(K,) products of row left[k] of the first and row right[k] of the second."""
    return np.asarray(first[left].multiply(second[right]).sum(1)).ravel()
