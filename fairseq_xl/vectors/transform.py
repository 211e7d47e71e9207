"""Making a table's directions more even, so that fewer words are everyone's nearest neighbour.

Word vectors share a large common part, and frequency is written into their main directions. Under
nearest-neighbour search this makes hubs: words that intrude everywhere. Subtracting the mean and
the top principal components ("all-but-the-top", Mu and Viswanath 2018) takes both away.
"""

from __future__ import annotations

import numpy as np

from fairseq_xl.errors import InputError
from fairseq_xl.vectors.table import WordVectors


def transform(
    vectors: WordVectors,
    *,
    normalise_first: bool = False,
    centre: bool = False,
    remove_components: int = 0,
    normalise: bool = False,
    weights: np.ndarray | None = None,
) -> WordVectors:
    """Apply the chosen steps, in the order of the arguments; the given table stays as it is.

    Args:
        vectors: n words of dimension d.
        normalise_first: scale every vector to length one before the other steps, so that long
            vectors (of words of middle frequency) do not settle the mean and the components.
        centre: subtract the mean vector. remove_components: subtract the mean and the projections
        on this many principal components. normalise: scale every vector to length one at the end.
        weights: (n,) non-negative, for example how often each word occurs: the mean and the
            components are then those of the text instead of the word list.

    Raises:
        InputError: more components than dimensions leave; weights that are all zero; a vector
            that comes out zero (the word is named).
    """
    words, rows = vectors.words, vectors.matrix.astype(np.float64)
    if not 0 <= remove_components < vectors.dim:
        raise InputError(
            f"cannot remove {remove_components} components of vectors of dimension {vectors.dim}"
        )
    if normalise_first:
        rows = _unit(rows, words, "is zero from the start")
    share = _share(weights, len(rows))
    if centre or remove_components:
        rows -= share @ rows
    if remove_components:
        covariance = (rows * share[:, None]).T @ rows  # (d, d)
        _, directions = np.linalg.eigh(covariance)  # in ascending order of variance
        top = directions[:, -remove_components:]  # (d, K)
        rows -= (rows @ top) @ top.T
    if normalise:
        rows = _unit(rows, words, "is zero after the transformation")
    result = rows.astype(np.float32)
    _refuse_zero(np.abs(result).max(axis=1, initial=0), words, "is zero after the transformation")
    return WordVectors(list(words), result)


def _share(weights: np.ndarray | None, count: int) -> np.ndarray:
    """Weights (n,) that sum to one."""
    if weights is None:
        return np.full(count, 1 / max(count, 1))
    weights = np.asarray(weights, dtype=np.float64)
    if weights.shape != (count,) or not np.isfinite(weights).all() or (weights < 0).any():
        raise ValueError(f"expected {count} finite weights >= 0, got shape {weights.shape}")
    if not weights.any():
        raise InputError("the words' counts are all zero, so they cannot weight the transformation")
    return weights / weights.sum()


def _unit(rows: np.ndarray, words: list[str], fault: str) -> np.ndarray:
    norms = np.linalg.norm(rows, axis=1, keepdims=True)
    _refuse_zero(norms[:, 0], words, fault)
    return rows / norms


def _refuse_zero(sizes: np.ndarray, words: list[str], fault: str) -> None:
    # A word that carries all the weight is itself the mean, up to rounding.
    if (sizes < 1e-12).any():
        word = words[int(np.argmin(sizes))]
        raise InputError(f"the vector of {word!r} {fault}: leave out the step or the word")
