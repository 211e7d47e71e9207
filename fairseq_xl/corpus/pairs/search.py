"""The search for pairs that share a topic and not a meaning (the paper's section 2.2, algorithm 1).

A sentence's candidates are sentences of other pages of its topic, and here of its fold, too. The cosine of their
vectors with its own is in a band. The paper takes the first ones of an ordered search. Here they are drawn if there are
more than are asked for. The first pages' sentences would otherwise become everybody's negatives.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from fairseq_xl.corpus.pairs.positives import Positives
from fairseq_xl.text.words import punctuation, words
from fairseq_xl.vectors.faiss_index import import_faiss

QUERIES, CANDIDATES = 1024, 4096
"""Searched at once: at most four million cosines are held."""
QUANTILES = (0.01, 0.05, 0.1, 0.25, 0.5, 0.75, 0.9, 0.95, 0.99, 0.999)


@dataclass(frozen=True)
class Band:
    """How negatives are chosen: low < cosine < high, ``each`` of a sentence at most, among ``pool`` candidates."""

    low: float = 0.8
    high: float = 0.9
    each: int = 10
    pool: int = 50_000


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


def search(
    vectors: np.ndarray,
    area: Sequence[int] | np.ndarray,
    page: Sequence[int] | np.ndarray,
    pages: Sequence[set[int]],
    band: Band,
    near_duplicates: NearDuplicates,
    fits: Sequence[Lengths | Overlaps],
    seed: int,
) -> Iterator[tuple[np.ndarray, np.ndarray, np.ndarray]]:
    """Negatives of all sentences, some at a time.

    Args:
        vectors: (N, d) float32 of length 1, or zeros. Sentences with zeros neither have nor become negatives.
        area: (N,) what candidates must share: topic and fold.
        page: (N,) of each sentence.
        pages: (N,) all pages with the sentence. Candidates must not be on the sentence's page.
        near_duplicates: what is never a negative.
        fits: which lengths, and overlaps, may stand side by side; the cheapest first.
        seed: of the draw.

    Yields:
        numbers of sentences (K,), of candidates, whose counterparts are the negatives, and their cosines.

    Raises:
        InputError: faiss is missing.
    """
    faiss = import_faiss()
    area, page = np.asarray(area), np.asarray(page)
    usable = np.flatnonzero(vectors.any(1))
    homes = _counts([sorted(having) for having in pages], words_are_numbers=True)
    for number in np.unique(area[usable]):
        random = np.random.default_rng([seed, int(number) + 1])
        members = random.permutation(usable[area[usable] == number])
        blocks = [members[k : k + CANDIDATES] for k in range(0, len(members), CANDIDATES)]
        looked_at = min(len(blocks), -(-band.pool // CANDIDATES))
        for turn, start in enumerate(range(0, len(members), QUERIES)):
            queries = members[start : start + QUERIES]
            wanted = np.full(len(queries), band.each)
            for step in range(looked_at):
                active = np.flatnonzero(wanted)
                if not len(active):
                    break
                # Each run of sentences begins elsewhere.
                candidates = blocks[(turn + step) % len(blocks)]
                index = faiss.IndexFlatIP(vectors.shape[1])
                index.add(vectors[candidates])
                limits, cosines, hits = index.range_search(vectors[queries[active]], band.low)
                place = np.repeat(active, np.diff(limits).astype(int))
                hits = candidates[hits]
                keep = np.flatnonzero((cosines < band.high) & (hits != queries[place]))
                for rule in fits:
                    keep = keep[rule(queries[place[keep]], hits[keep])]
                place, hits, cosines = place[keep], hits[keep], cosines[keep]
                yield from _drawn(queries, wanted, place, hits, cosines, page, homes, near_duplicates, random)


def _drawn(
    queries: np.ndarray,
    wanted: np.ndarray,
    place: np.ndarray,
    hits: np.ndarray,
    cosines: np.ndarray,
    page: np.ndarray,
    homes: sparse.csr_matrix,
    near_duplicates: NearDuplicates,
    random: np.random.Generator,
) -> Iterator[tuple[np.ndarray, np.ndarray, np.ndarray]]:
    """Draw from the hits (K,) of queries at ``place`` until each has what it wanted. This lowers ``wanted``."""
    order = np.lexsort((random.random(len(place)), place))
    place, hits, cosines = place[order], hits[order], cosines[order]
    rank = np.arange(len(place)) - np.searchsorted(place, place)
    window = 2 * int(wanted.max(initial=0))
    for first in range(0, int(rank.max(initial=-1)) + 1, window):
        # Few are checked at a time, because most of a dense band is never needed.
        some = np.flatnonzero((rank >= first) & (rank < first + window) & (wanted[place] > 0))
        if not len(some):
            continue
        left, right = queries[place[some]], hits[some]
        there = np.asarray(homes[right, page[left]]).ravel() > 0
        some = some[~there & ~near_duplicates(left, right)]
        position = np.arange(len(some)) - np.searchsorted(place[some], place[some])
        some = some[position < wanted[place[some]]]
        np.subtract.at(wanted, place[some], 1)
        yield queries[place[some]], hits[some], cosines[some]
        if not wanted.any():
            return


def quantiles(
    vectors: np.ndarray,
    area: Sequence[int] | np.ndarray,
    page: Sequence[int] | np.ndarray,
    seed: int,
    draws: int = 200_000,
) -> np.ndarray:
    """(D,) cosines, rising, of sentences drawn from different pages of the same topic."""
    random = np.random.default_rng(seed)
    usable = np.flatnonzero(vectors.any(1))
    area, page = np.asarray(area), np.asarray(page)
    members = usable[np.argsort(area[usable], kind="stable")]
    _, start, size = np.unique(area[members], return_index=True, return_counts=True)
    if not len(members):
        return np.zeros(0)
    left = random.integers(0, len(members), draws)
    of = np.searchsorted(start, left, side="right") - 1
    right = start[of] + random.integers(0, size[of])
    left, right = members[left], members[right]
    keep = page[left] != page[right]
    left, right = left[keep], right[keep]
    step = 10_000
    found = [
        np.einsum("nd,nd->n", vectors[left[k : k + step]], vectors[right[k : k + step]])
        for k in range(0, len(left), step)
    ]
    return np.sort(np.concatenate(found)) if found else np.zeros(0)


def _counts(rows: Sequence[Sequence[Any]], words_are_numbers: bool = False) -> sparse.csr_matrix:
    """(N, V) how often each item is in each row."""
    known: dict[Any, int] = {}
    columns = [item if words_are_numbers else known.setdefault(item, len(known)) for row in rows for item in row]
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
