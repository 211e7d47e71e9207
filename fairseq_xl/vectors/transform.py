"""Steps that make a table's directions more even, so that fewer words are everyone's nearest neighbour.

Word vectors share a large common part, and frequency is written into their main directions. Under
nearest-neighbour search this makes hubs: words that intrude everywhere. Subtracting the mean and
the top principal components ("all-but-the-top", Mu and Viswanath 2018) takes both away. Whitening makes all directions
equally long. Rare words, whose vectors are hardly trained, lie close together: a share of random directions moves them
apart (Tokarchuk and Niculae 2024).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from fairseq_xl.io.errors import InputError
from fairseq_xl.io.settings import GREATEST_SEED, check, option
from fairseq_xl.vectors.random import random_vectors
from fairseq_xl.vectors.table import WordVectors

WHITENING_FLOOR = 1e-5
"""Whitening adds this share of the mean variance to each, so that directions that hold only rounding stay small."""


@dataclass(frozen=True, kw_only=True)
class Transformation:
    """Steps over a table, in this order."""

    normalize_first: bool = option(
        "scale every vector to norm one before the other steps. Give it so that long vectors, those of words of middle "
        "frequency, do not decide the mean and the components",
        False,
    )
    center: bool = option("subtract the mean vector", False)
    remove_components: int = option(
        "subtract the mean and this many main directions of variance (all-but-the-top; DIM/100 is usual)", 0, low=0
    )
    whiten: bool = option(
        "subtract the mean and scale the main directions to the same variance. It is ZCA, the whitening that changes "
        "the vectors least. 1e-5 of the mean variance is added to each, so that directions without any stay small",
        False,
    )
    random_share: float = option(
        "give each word 1 - R of its vector, scaled to norm one, and the share R of its vector of `vectors random`. "
        "A share of 1 is all random. Try 0.5 where rare words are confused",
        0.0,
        low=0,
        high=1,
        metavar="R",
    )
    random_seed: int = option("seed of the random vectors", 0, low=0, high=GREATEST_SEED)
    normalize: bool = option("scale every vector to norm one at the end", False)

    def __post_init__(self) -> None:
        check(self)

    @property
    def centers(self) -> bool:
        """Whether some step looks at the mean, and so may be weighted."""
        return bool(self.center or self.remove_components or self.whiten)


def transform(
    vectors: WordVectors, steps: Transformation, weights: Sequence[float] | np.ndarray | None = None
) -> WordVectors:
    """Apply the steps. The given table stays as it is.

    Args:
        vectors: n words of dimension d.
        steps: see there; ``random_share`` is r in (1 − r)·v/‖v‖ + r·u, where u is the word's seeded random unit
            vector of :mod:`.random`.
        weights: (n,) non-negative, for example how often each word occurs. The mean, the components and the variances
            are then those of the text instead of the word list.

    Raises:
        InputError: Removing the components would leave no dimension. All weights are zero. A vector comes out zero (the
            word is named).
    """
    words, rows = vectors.words, vectors.matrix.astype(np.float64)
    removed, random_share = steps.remove_components, steps.random_share
    if removed >= vectors.dim:
        raise InputError(f"cannot remove {removed} components of vectors of dimension {vectors.dim}")
    if steps.normalize_first:
        rows = _unit(rows, words, "is zero from the start")
    share = _share(weights, len(rows))
    if steps.centers:
        rows -= share @ rows
    if removed or steps.whiten:
        covariance = (rows * share[:, None]).T @ rows  # (d, d)
        variances, directions = np.linalg.eigh(covariance)  # in ascending order of variance
        left = vectors.dim - removed
        kept = directions[:, :left]
        rows = (rows @ kept * _scale(variances[:left], steps.whiten)) @ kept.T
    if random_share:
        rows = (1 - random_share) * _unit(rows, words, "is zero before random ones are mixed in")
        rows += random_share * random_vectors(words, vectors.dim, steps.random_seed).matrix
    if steps.normalize:
        rows = _unit(rows, words, "is zero after the transformation")
    result = rows.astype(np.float32)
    _refuse_zero(np.abs(result).max(axis=1, initial=0), words, "is zero after the transformation")
    return WordVectors(list(words), result)


def _share(weights: Sequence[float] | np.ndarray | None, count: int) -> np.ndarray:
    """Weights (n,) that sum to one."""
    if weights is None:
        return np.full(count, 1 / max(count, 1))
    weights = np.asarray(weights, dtype=np.float64)
    if weights.shape != (count,) or not np.isfinite(weights).all() or (weights < 0).any():
        raise ValueError(f"expected {count} finite weights >= 0, got shape {weights.shape}")
    if not weights.any():
        raise InputError("the words' counts are all zero, so they cannot weight the transformation")
    return weights / weights.sum()


def _scale(variances: np.ndarray, whiten: bool) -> np.ndarray:
    """What each direction (k,) is multiplied by."""
    if not whiten:
        return np.ones_like(variances)
    floor = max(WHITENING_FLOOR * variances.mean(), np.finfo(np.float64).tiny)
    return 1 / np.sqrt(variances.clip(min=0) + floor)


def _unit(rows: np.ndarray, words: list[str], fault: str) -> np.ndarray:
    norms = np.linalg.norm(rows, axis=1, keepdims=True)
    _refuse_zero(norms[:, 0], words, fault)
    return rows / norms


def _refuse_zero(sizes: np.ndarray, words: list[str], fault: str) -> None:
    # A word that carries all the weight is itself the mean, up to rounding.
    if (sizes < 1e-12).any():
        word = words[int(np.argmin(sizes))]
        raise InputError(f"the vector of {word!r} {fault}: leave out the step or the word")
