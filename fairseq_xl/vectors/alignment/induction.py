"""Translations of words as near neighbours in a common space, by cosine or CSLS."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from fairseq_xl.vectors.neighbours import nearest

CHUNK = 2048


class Induction:
    """Two tables of unit vectors in one space.

    CSLS(x, y) = 2 cos(x, y) - r(x) - r(y), r being the mean cosine with the k nearest of the other side (Conneau et
    al. 2018, equation 3): words that are near to everything are near to nothing in particular.

    Args:
        source, target: (n, d) and (m, d).
        k: neighbours in r.
    """

    def __init__(self, source: np.ndarray, target: np.ndarray, k: int = 10):
        self.source, self.target = source, target
        self.source_mean = nearest(target, source, k)[1].mean(1)
        self.target_mean = nearest(source, target, k)[1].mean(1)

    def best(self, rows: Sequence[int], k: int, csls: bool = True) -> np.ndarray:
        """(len(rows), k) target rows for some source rows, the best first."""
        # r(x) is the same for all that a row is compared with.
        penalty = self.target_mean if csls else np.zeros(len(self.target), dtype=np.float32)
        return _best(self.source[list(rows)], self.target, penalty, k)

    def mutual(self) -> list[tuple[int, int]]:
        """Rows of both sides that are each other's best by CSLS."""
        onwards = _best(self.source, self.target, self.target_mean, 1)[:, 0]
        back = _best(self.target, self.source, self.source_mean, 1)[:, 0]
        return [(i, int(j)) for i, j in enumerate(onwards) if back[j] == i]


def _best(queries: np.ndarray, table: np.ndarray, penalty: np.ndarray, k: int) -> np.ndarray:
    """(n, k) rows of ``table`` with the largest 2 cos - penalty, the best first."""
    parts = [queries[start : start + CHUNK] for start in range(0, len(queries), CHUNK)]
    found = [np.argsort(penalty - 2 * (part @ table.T), axis=1, kind="stable")[:, :k] for part in parts]
    return np.concatenate(found) if found else np.empty((0, k), dtype=int)


def precision(found: np.ndarray, rows: Sequence[int], translations: Mapping[int, set[int]], k: int) -> float:
    """The share of source rows with one of their translations among the first k found (P@k).

    Args: found (len(rows), at least k) of :meth:`Induction.best`; translations: of each source row.
    """
    hits = [bool(translations[row] & set(best[:k].tolist())) for row, best in zip(rows, found, strict=True)]
    return float(np.mean(hits))
