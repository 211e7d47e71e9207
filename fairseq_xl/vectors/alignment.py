"""One space for two languages: the rotation that lays translations upon each other, and how words translate then."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
from scipy.linalg import orthogonal_procrustes

from fairseq_xl.io.errors import InputError
from fairseq_xl.io.lexicons import read_entries
from fairseq_xl.vectors.neighbours import nearest, unit_rows
from fairseq_xl.vectors.table import WordVectors


def centered_units(vectors: WordVectors) -> WordVectors:
    """Unit vectors, centered, and unit again (Artetxe et al. 2016, section 2.2): what a rotation can match."""
    rows = unit_rows(vectors.matrix)
    return WordVectors(vectors.words, unit_rows(rows - rows.mean(0)))


def align(
    source: WordVectors, target: WordVectors, seed: Sequence[tuple[str, str]], rounds: int = 5, frequent: int = 10_000
) -> tuple[np.ndarray, list[tuple[str, str]]]:
    """The rotation of one space into another, from a seed dictionary and what it leads to.

    Each round takes the mutual nearest neighbours (by CSLS) of the most frequent words as the next dictionary
    (Conneau et al. 2018, section 2.3).

    Args:
        source, target: of :func:`centered_units`, the most frequent words first.
        seed: word pairs; those with a word without a vector are passed over.
        rounds: of refinement; 0: the seed alone.
        frequent: words of each side that refinement looks at.

    Returns:
        W (d, d) and the dictionary that it was fitted on.

    Raises:
        InputError: spaces of different dimension, or too few pairs to say anything.
    """
    if source.dim != target.dim:
        raise InputError(
            f"the source's vectors have {source.dim} dimensions and the target's {target.dim}: give equal ones"
        )
    pairs = [(s, t) for s, t in seed if s in source.index and t in target.index]
    if len(pairs) < 10:
        raise InputError(
            f"only {len(pairs)} pairs of the seed dictionary have vectors on both sides: give more (at least 10)"
        )
    for _ in range(rounds):
        mapped = source.matrix[:frequent] @ _fitted(source, target, pairs)
        found = Induction(mapped, target.matrix[:frequent]).mutual()
        if len(found) < 10:
            break
        pairs = [(source.words[i], target.words[j]) for i, j in found]
    return _fitted(source, target, pairs), pairs


def _fitted(source: WordVectors, target: WordVectors, pairs: Sequence[tuple[str, str]]) -> np.ndarray:
    """The orthogonal W (d, d) that minimises the Frobenius norm of source · W - target (Schönemann 1966)."""
    left = source.matrix[[source.index[s] for s, _ in pairs]].astype(np.float64)
    right = target.matrix[[target.index[t] for _, t in pairs]].astype(np.float64)
    return orthogonal_procrustes(left, right)[0].astype(np.float32)


class Induction:
    """Translations of words as near neighbours, by cosine or CSLS, in two tables of unit vectors in one space.

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
        # CSLS ranks as cos(x, y) - r(y) / 2 does, for r(x) is the same for all that x is compared with.
        return nearest(self.target, self.source[list(rows)], k, penalty=self.target_mean / 2 if csls else None)[0]

    def mutual(self) -> list[tuple[int, int]]:
        """Rows of both sides that are each other's best by CSLS."""
        onwards = nearest(self.target, self.source, 1, penalty=self.target_mean / 2)[0][:, 0]
        back = nearest(self.source, self.target, 1, penalty=self.source_mean / 2)[0][:, 0]
        return [(i, int(j)) for i, j in enumerate(onwards) if back[j] == i]


def precision(found: np.ndarray, rows: Sequence[int], translations: Mapping[int, set[int]], k: int) -> float:
    """The share of source rows with one of their translations among the first k found (P@k).

    Args: found (len(rows), at least k) of :meth:`Induction.best`; translations: of each source row.
    """
    hits = [bool(translations[row] & set(best[:k].tolist())) for row, best in zip(rows, found, strict=True)]
    return float(np.mean(hits))


def measured(source: WordVectors, target: WordVectors, dictionary: Path) -> str:
    """P@1 and P@5 of a dictionary's words by cosine and by CSLS, as a line.

    Raises:
        InputError: a dictionary that :func:`read_entries` does not read, or without known words.
    """
    pairs = [(entry.word, entry.translation) for entry in read_entries(dictionary)]
    translations: dict[int, set[int]] = {}
    for s, t in pairs:
        if s in source.index and t in target.index:
            translations.setdefault(source.index[s], set()).add(target.index[t])
    if not translations:
        raise InputError(f"{dictionary}: no pair has vectors on both sides")
    rows = sorted(translations)
    induction = Induction(source.matrix, target.matrix)
    shares = []
    for name, csls in (("cosine", False), ("CSLS", True)):
        found = induction.best(rows, 5, csls)
        shares.append(f"{name} P@1 {precision(found, rows, translations, 1):.1%}")
        shares.append(f"P@5 {precision(found, rows, translations, 5):.1%}")
    return f"{len(rows)} of {len({s for s, _ in pairs})} words of {dictionary.name} measured: {', '.join(shares)}"
