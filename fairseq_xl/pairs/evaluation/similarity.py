"""Do numbers rank pairs as people's graded similarities do (Cer et al. 2017, STS-B)?"""

from __future__ import annotations

import warnings
from collections.abc import Sequence

import numpy as np
from scipy import sparse
from scipy.sparse.linalg import norm
from scipy.stats import ConstantInputWarning, spearmanr

from fairseq_xl.pairs.evaluation.scores import interval


def spearman(said: np.ndarray, gold: np.ndarray) -> float:
    """Correlation of the ranks of two (N,); NaN where either side is one value."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConstantInputWarning)
        return float(spearmanr(said, gold).statistic)


def spearman_interval(said: np.ndarray, gold: np.ndarray, samples: int = 1000, seed: int = 1) -> tuple[float, float]:
    """95 % of bootstrap samples lie between these; samples of one value, which rank nothing, do not count."""
    random = np.random.default_rng(seed)
    draws = (random.integers(0, len(gold), len(gold)) for _ in range(samples))
    values = np.array([spearman(said[draw], gold[draw]) for draw in draws])
    return interval(values[~np.isnan(values)])


def cosines(left: np.ndarray | sparse.sparray, right: np.ndarray | sparse.sparray) -> np.ndarray:
    """(N,) of the rows of two matrices (N, d), dense or sparse; 0 where a row is 0."""
    left, right = sparse.csr_array(left), sparse.csr_array(right)
    norms = norm(left, axis=1) * norm(right, axis=1)
    return np.divide((left * right).sum(1), norms, out=np.zeros(len(norms)), where=norms > 0)


def averages(sentences: Sequence[Sequence[int]], table: np.ndarray) -> np.ndarray:
    """(N, d) means of the words' vectors of each sentence; zeros where there is no word."""
    found = np.zeros((len(sentences), table.shape[1]))
    for row, words in enumerate(sentences):
        if len(words):
            found[row] = table[list(words)].mean(0)
    return found


def shared_words(left: Sequence[Sequence[str]], right: Sequence[Sequence[str]]) -> np.ndarray:
    """(N,) words that both sentences have, over those that either has (Jaccard)."""
    sets = [(set(a), set(b)) for a, b in zip(left, right, strict=True)]
    return np.array([len(a & b) / max(1, len(a | b)) for a, b in sets])
