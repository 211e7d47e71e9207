"""k-NN accuracy with a faiss index, for a million sentences: all pairs of so many take hours."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch
from scipy import sparse

from fairseq_xl.io.errors import InputError
from fairseq_xl.io.progress import progress_bar
from fairseq_xl.syntactic.evaluation.cosines import Directions, Matrix
from fairseq_xl.syntactic.evaluation.neighbours import KS, expected_share
from fairseq_xl.vectors.faiss_index import build_index, set_effort

EQUALS = 32
"""sentences looked up beyond the k nearest, to find those that are as near as the k-th"""
TIE = 1e-6
"""of cosines, which an index keeps in float32"""
BLOCK = 10_000


def accuracies(
    vectors: Matrix, groups: np.ndarray, kind: str, ks: Sequence[int] = KS, effort: float = 1.0
) -> np.ndarray:
    """k-NN accuracy of each sentence for each k, (N, len(ks)), as :func:`neighbours.accuracies` has it. Differences
    come from what the index overlooks, from float32, and from more than EQUALS equally near sentences.

    Args:
        vectors: (N, d) embeddings.
        groups: (N,) the group of each.
        kind: of index, see :mod:`fairseq_xl.vectors.faiss_index`.
        effort: how much is searched, as a multiple of the default.

    Raises:
        InputError: sparse vectors; not more sentences than the largest k; faiss is missing.
    """
    if sparse.issparse(vectors):
        raise InputError("an index needs dense vectors: compare all pairs of these, without --index-kind")
    most = max(ks)
    if len(vectors) <= most:
        raise InputError(f"{len(vectors)} sentences are too few for {most} neighbours of each: give more sentences")
    rows = Directions(vectors).rows.numpy().astype(np.float32)
    index = build_index(rows, kind)
    set_effort(index, kind, effort)
    result = np.empty((len(rows), len(ks)))
    fetched = min(most + 1 + EQUALS, len(rows))
    with progress_bar("nearest neighbours", True, total=len(rows), unit=" sentences") as bar:
        for start in range(0, len(rows), BLOCK):
            stop = min(start + BLOCK, len(rows))
            cosines, others = index.search(rows[start:stop], fetched)
            result[start:stop] = _shares(cosines, others, np.arange(start, stop), groups, ks)
            bar.update(stop - start)
    return result


def _shares(
    cosines: np.ndarray, others: np.ndarray, own: np.ndarray, groups: np.ndarray, ks: Sequence[int]
) -> np.ndarray:
    """(B, len(ks)) from what an index found: (B, fetched) each, the nearest first, −1 where there was no more."""
    counts = (others >= 0) & (others != own[:, None])
    cosines = np.where(counts, cosines, -np.inf)
    order = np.argsort(-cosines, axis=1, kind="stable")  # sentences that do not count go last
    cosines, others = (np.take_along_axis(values, order, axis=1) for values in (cosines, others))
    mates = (groups[others] == groups[own][:, None]) & np.isfinite(cosines)
    query = torch.arange(len(own)).repeat_interleave(cosines.shape[1])
    # Far below any cosine, and finite: where fewer than k were found, the missing ones are equal, and no mates.
    flat = torch.from_numpy(np.maximum(cosines, -9.0).astype(np.float64))
    shares = [
        expected_share(query, flat.flatten(), torch.from_numpy(mates.flatten()), flat[:, k - 1], k, TIE) for k in ks
    ]
    return torch.stack(shares, dim=1).numpy()
