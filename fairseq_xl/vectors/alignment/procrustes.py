"""One space for two languages: the rotation that lays translations upon each other."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy.linalg import orthogonal_procrustes

from fairseq_xl.io.errors import InputError
from fairseq_xl.vectors.alignment.induction import Induction
from fairseq_xl.vectors.neighbours import unit_rows
from fairseq_xl.vectors.table import WordVectors


def centred_units(vectors: WordVectors) -> WordVectors:
    """Unit vectors, centred, and unit again (Artetxe et al. 2016, section 2.2): what a rotation can match."""
    rows = unit_rows(vectors.matrix)
    return WordVectors(vectors.words, unit_rows(rows - rows.mean(0)))


def rotation(source: np.ndarray, target: np.ndarray) -> np.ndarray:
    """The orthogonal W (d, d) that minimises the Frobenius norm of source · W - target (Schönemann 1966).

    Args: source, target (n, d): row i of one belongs upon row i of the other.
    """
    return orthogonal_procrustes(source.astype(np.float64), target.astype(np.float64))[0]


def align(
    source: WordVectors, target: WordVectors, seed: Sequence[tuple[str, str]], rounds: int = 5, frequent: int = 10_000
) -> tuple[np.ndarray, list[tuple[str, str]]]:
    """The rotation of one space into another, from a seed dictionary and what it leads to.

    Each round takes the mutual nearest neighbours (by CSLS) of the most frequent words as the next dictionary
    (Conneau et al. 2018, section 2.3).

    Args:
        source, target: of :func:`centred_units`, the most frequent words first.
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
    rows = [source.index[s] for s, _ in pairs], [target.index[t] for _, t in pairs]
    return rotation(source.matrix[rows[0]], target.matrix[rows[1]]).astype(np.float32)
