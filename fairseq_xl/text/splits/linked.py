"""What pairs of sentences link, directly or through others."""

from __future__ import annotations

from collections.abc import Hashable, Iterable

import numpy as np
from scipy.sparse import coo_matrix
from scipy.sparse.csgraph import connected_components


def groups(pairs: Iterable[tuple[Hashable, Hashable]]) -> list[int]:
    """The connected component of each pair, numbered by first appearance. Sentences are nodes, and pairs are edges."""
    nodes = number(pairs)
    count = nodes.max(initial=-1) + 1
    edges = coo_matrix((np.ones(len(nodes)), (nodes[:, 0], nodes[:, 1])), shape=(count, count))
    return connected_components(edges, directed=False)[1][nodes[:, 0]].tolist()


def number(pairs: Iterable[tuple[Hashable, Hashable]]) -> np.ndarray:
    """(N, 2) numbers of the pairs' sentences, by first appearance."""
    known: dict[Hashable, int] = {}
    numbers = (known.setdefault(sentence, len(known)) for pair in pairs for sentence in pair)
    return np.fromiter(numbers, dtype=int).reshape(-1, 2)
