"""The search for pairs that share a topic and not a meaning (the paper's section 2.2, algorithm 1).

A sentence's candidates are sentences of other pages of its topic, and here of its fold, too. The cosine of their
vectors with its own is in a band. The paper takes the first ones of an ordered search. Here they are drawn if there are
more than are asked for. The first pages' sentences would otherwise become everybody's negatives.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from scipy import sparse

from fairseq_xl.corpus.pairs.rules import Rule, Rules
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


def search(
    vectors: np.ndarray,
    area: Sequence[int] | np.ndarray,
    page: Sequence[int] | np.ndarray,
    pages: Sequence[set[int]],
    band: Band,
    rules: Rules,
    seed: int,
) -> Iterator[tuple[np.ndarray, np.ndarray, np.ndarray]]:
    """Negatives of all sentences, some at a time.

    Args:
        vectors: (N, d) float32 of length 1, or zeros. Sentences with zeros neither have nor become negatives.
        area: (N,) what candidates must share: topic and fold.
        page: (N,) of each sentence.
        pages: (N,) all pages with the sentence. Candidates must not be on the sentence's page.
        rules: of the texts, which candidates in the band keep.
        seed: of the draw.

    Yields:
        numbers of sentences (K,), of candidates, whose counterparts are the negatives, and their cosines.

    Raises:
        InputError: faiss is missing.
    """
    faiss = import_faiss()
    area, page = np.asarray(area), np.asarray(page)
    usable = np.flatnonzero(vectors.any(1))
    homes = _membership(pages)
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
                for rule in rules.fits:
                    keep = keep[rule(queries[place[keep]], hits[keep])]
                place, hits, cosines = place[keep], hits[keep], cosines[keep]
                yield from _drawn(queries, wanted, place, hits, cosines, page, homes, rules.near_duplicates, random)


def _drawn(
    queries: np.ndarray,
    wanted: np.ndarray,
    place: np.ndarray,
    hits: np.ndarray,
    cosines: np.ndarray,
    page: np.ndarray,
    homes: sparse.csr_matrix,
    near_duplicates: Rule,
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


def _membership(pages: Sequence[set[int]]) -> sparse.csr_matrix:
    """(N, P) 1 where a sentence is on a page."""
    columns = [page for having in pages for page in sorted(having)]
    rows = np.repeat(np.arange(len(pages)), [len(having) for having in pages])
    shape = len(pages), max(columns, default=-1) + 1
    return sparse.csr_matrix((np.ones(len(columns), np.float32), (rows, columns)), shape)
