"""Matching pairs through a chain of two: if A means the same as B, and B the same as C, A and C match, too.

A chain can be wrong, because people who label pairs do not judge all of them by one measure. Pairs that have a label of
their own tell how often a chain is right.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from itertools import combinations
from typing import NamedTuple


class Chain(NamedTuple):
    """Two sentences that match by way of one between them."""

    one: str
    through: str
    other: str


def chains(pairs: Sequence[tuple[str, str]], labels: Sequence[int | None]) -> tuple[list[Chain], int, int]:
    """The chains of matching pairs whose ends have no label, each pair of ends once.

    Args:
        pairs: of sentences. Their order decides which of several sentences between the ends stands for all.
        labels: 1 where a pair matches. Chains do not go through pairs with 0 or None, or with an empty sentence.

    Returns:
        The chains, how many pairs of ends have a label of their own, and how many of these match.
    """
    known = {frozenset(pair): label for pair, label in zip(pairs, labels, strict=True) if label is not None}
    beside: dict[str, dict[str, None]] = defaultdict(dict)
    for (left, right), label in zip(pairs, labels, strict=True):
        if label == 1 and left and right and left != right:
            beside[left][right] = beside[right][left] = None
    found: dict[frozenset[str], Chain] = {}
    labelled = right_ones = 0
    seen = set()
    for chain in _all(beside):
        ends = frozenset((chain.one, chain.other))
        if ends not in known:
            found.setdefault(ends, chain)
        elif ends not in seen:
            seen.add(ends)
            labelled, right_ones = labelled + 1, right_ones + (known[ends] or 0)
    return list(found.values()), labelled, right_ones


def _all(beside: dict[str, dict[str, None]]) -> Iterator[Chain]:
    for through, others in beside.items():
        for one, other in combinations(others, 2):
            yield Chain(one, through, other)
