"""How good probabilities are: scores of one run, and what drawing the pairs and the runs anew does to their loss."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import astuple, dataclass

import numpy as np

from fairseq_xl.io.packages import require
from fairseq_xl.report.bootstrap import drawn_runs

EPSILON = float(np.finfo(np.float64).eps)
"""probabilities nearer to 0 or 1 than this are taken for it in the log loss, as scikit-learn's log_loss does"""

BINS = 15
"""of the expected calibration error, as in Guo et al. 2017"""


def log_losses(gold: Sequence[int] | np.ndarray, probability: Sequence[float] | np.ndarray) -> np.ndarray:
    """(…, N) log loss of each pair; their mean is scikit-learn's ``log_loss``.

    Args:
        gold: (N,) labels 0 and 1.
        probability: (…, N) of label 1, clipped to EPSILON … 1 − EPSILON.
    """
    clipped = np.clip(np.asarray(probability, dtype=np.float64), EPSILON, 1 - EPSILON)
    return -np.log(np.where(np.asarray(gold) == 1, clipped, 1 - clipped))


@dataclass(frozen=True)
class Reliability:
    """Pairs in bins of their probability, of equal width; bins without a pair are left out.

    Attributes:
        said: (B,) mean probability in each bin.
        true: (B,) share of label 1.
        pairs: (B,) how many.
    """

    said: np.ndarray
    true: np.ndarray
    pairs: np.ndarray


def reliability(gold: np.ndarray, probability: np.ndarray, bins: int = BINS) -> Reliability:
    """What was said and what was true, bin by bin, from (N,) labels and probabilities of label 1."""
    gold, probability = np.asarray(gold), np.asarray(probability, dtype=np.float64)
    place = np.minimum((probability * bins).astype(int), bins - 1)
    pairs = np.bincount(place, minlength=bins)
    filled = pairs > 0
    said, true = (np.bincount(place, values, bins)[filled] / pairs[filled] for values in (probability, gold))
    return Reliability(said, true, pairs[filled])


def calibration_error(gold: np.ndarray, probability: np.ndarray, bins: int = BINS) -> float:
    """Expected calibration error (Naeini et al. 2015; Guo et al. 2017, equation 3), of the probability of label 1."""
    found = reliability(gold, probability, bins)
    return float(np.abs(found.said - found.true) @ found.pairs / found.pairs.sum())


@dataclass(frozen=True)
class Scores:
    """Scores of one run, or their means over runs. Classes are decided at a probability of 0.5.

    Attributes:
        log_loss: see :func:`log_losses`.
        precision, recall, f1: of label 1; 0 where nothing was said, or nothing is, 1.
        weighted_precision, weighted_recall, weighted_f1: of both labels, weighted by how often each is true, as
            the paper's Table 2 gives them. The weighted recall is the accuracy.
        average_precision: of the ranking; NaN without a pair of label 1.
        calibration_error: see :func:`calibration_error`.
    """

    log_loss: float
    accuracy: float
    precision: float
    recall: float
    f1: float
    weighted_precision: float
    weighted_recall: float
    weighted_f1: float
    average_precision: float
    calibration_error: float


def scores(gold: np.ndarray, probability: np.ndarray) -> Scores:
    """From (N,) labels 0 and 1 and (N,) probabilities of label 1.

    Raises:
        InputError: scikit-learn is missing.
    """
    metrics = require("sklearn.metrics", "pairs")
    gold, probability = np.asarray(gold), np.asarray(probability, dtype=np.float64)
    said = (probability >= 0.5).astype(int)
    positive, weighted = (
        metrics.precision_recall_fscore_support(gold, said, average=average, zero_division=0)[:3]
        for average in ("binary", "weighted")
    )
    ranked = metrics.average_precision_score(gold, probability) if gold.any() else np.nan
    found = (
        log_losses(gold, probability).mean(),
        (said == gold).mean(),
        *positive,
        *weighted,
        ranked,
        calibration_error(gold, probability),
    )
    return Scores(*map(float, found))


def mean(found: Sequence[Scores]) -> Scores:
    """Over runs."""
    return Scores(*np.mean([astuple(one) for one in found], axis=0).tolist())


def bootstrap(values: Sequence[np.ndarray], group: np.ndarray, samples: int = 2000) -> np.ndarray:
    """(samples, K) means of K pair classifiers, with groups of pairs and runs drawn with replacement.

    Pairs that share a sentence are not independent, so whole groups are drawn, the same ones for all: the difference of
    two columns is paired. Runs are drawn for each classifier by itself.

    Args:
        values: K of (R, N): of each run and pair, such as :func:`log_losses`; R may differ.
        group: (N,)
    """
    random = np.random.default_rng(1)
    members, number = np.unique(group, return_inverse=True)
    size = np.bincount(number)
    sums = [np.stack([np.bincount(number, run) for run in np.atleast_2d(one)]) for one in values]
    found = np.empty((samples, len(sums)))
    for sample in found:
        times = np.bincount(random.integers(0, len(members), len(members)), minlength=len(members))
        for k, one in enumerate(sums):
            drawn = one[drawn_runs(random, len(one))].mean(0)
            sample[k] = drawn @ times / (size @ times)
    return found
