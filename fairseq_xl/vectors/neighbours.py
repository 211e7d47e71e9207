"""The words whose vectors point most nearly the same way as a given word's."""

from __future__ import annotations

from collections.abc import Sequence
from collections.abc import Set as AbstractSet

import numpy as np

from fairseq_xl.io.errors import InputError
from fairseq_xl.vectors.table import WordVectors

BLOCK = 2**22
"""Cosines that are held at once: 16 MiB, and some 100 MiB more while the largest are found."""


def neighbours(
    vectors: WordVectors, words: Sequence[str], k: int = 10, among: AbstractSet[str] | None = None
) -> dict[str, list[tuple[str, float]]]:
    """The ``k`` nearest other words of each word, of those ``among`` which it is looked for, with their cosines.

    The nearest is first, and there are fewer where the table has fewer. Raises InputError for a word without a vector.
    """
    queries = vectors.matrix[[_row_of(word, vectors) for word in words]]
    names, matrix = vectors.words, vectors.matrix
    if among is not None and not among >= set(names):
        chosen = [row for row, word in enumerate(vectors.words) if word in among]
        names, matrix = [vectors.words[row] for row in chosen], matrix[chosen]
    found, cosines = nearest(matrix, queries, k + 1)
    return {
        word: [(names[row], float(cosine)) for row, cosine in zip(*near, strict=True) if names[row] != word][:k]
        for word, *near in zip(words, found, cosines, strict=True)
    }


def nearest(
    matrix: np.ndarray,
    queries: np.ndarray,
    k: int,
    penalty: np.ndarray | None = None,
    chunk_rows: int = 65_536,
) -> tuple[np.ndarray, np.ndarray]:
    """Rows of ``matrix`` (n, d) with the largest cosine to each query (m, d).

    ``penalty`` (n,) is subtracted from the cosines with each row. Returns rows (m, k) and these cosines (m, k), sorted,
    with k at most n. The table is taken in chunks and the queries in blocks, so that memory beyond both is that of a
    chunk and of ``BLOCK`` cosines. All-zero rows have cosine 0.
    """
    if k < 1:
        raise InputError(f"the number of neighbours must be at least 1, not {k}")
    k = min(k, len(matrix))
    step = max(1, BLOCK // max(1, min(chunk_rows, len(matrix))))
    found = []
    for first in range(0, max(1, len(queries)), step):
        found.append(_nearest(matrix, queries[first : first + step], k, penalty, chunk_rows))
    return np.concatenate([rows for rows, _ in found]), np.concatenate([cosines for _, cosines in found])


def _nearest(
    matrix: np.ndarray,
    queries: np.ndarray,
    k: int,
    penalty: np.ndarray | None,
    chunk_rows: int,
) -> tuple[np.ndarray, np.ndarray]:
    queries = unit_rows(queries)
    best_rows = np.empty((len(queries), 0), dtype=np.int64)
    best = np.empty((len(queries), 0), dtype=np.float32)
    for start in range(0, len(matrix), chunk_rows):
        cosines = queries @ unit_rows(matrix[start : start + chunk_rows]).T  # (m, chunk)
        if penalty is not None:
            cosines -= penalty[start : start + chunk_rows]
        rows = np.broadcast_to(np.arange(start, start + cosines.shape[1]), cosines.shape)
        best = np.concatenate([best, cosines], axis=1)
        best_rows = np.concatenate([best_rows, rows], axis=1)
        if best.shape[1] > k:
            kept = np.argpartition(-best, k - 1, axis=1)[:, :k]
            best = np.take_along_axis(best, kept, axis=1)
            best_rows = np.take_along_axis(best_rows, kept, axis=1)
    order = np.lexsort((best_rows, -best), axis=1)
    return np.take_along_axis(best_rows, order, axis=1), np.take_along_axis(best, order, axis=1)


def unit_rows(rows: np.ndarray) -> np.ndarray:
    """Rows (n, d) at length one; those of zeros stay."""
    norms = np.linalg.norm(rows, axis=1, keepdims=True)
    return rows / np.where(norms > 0, norms, 1)


def _row_of(word: str, vectors: WordVectors) -> int:
    row = vectors.index.get(word)
    if row is None:
        cases = (word.lower(), word.capitalize(), word.upper())
        near = next((case for case in cases if case in vectors.index), None)
        hint = f"; did you mean {near!r}?" if near else ""
        raise InputError(f"the word {word!r} has no vector among the {len(vectors)} words{hint}")
    return row
