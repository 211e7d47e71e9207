"""How good predicted classes are, and whether one classifier is better than another. Takes plain numbers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import scipy.stats


def confusion(gold: Sequence[int] | np.ndarray, predicted: Sequence[int] | np.ndarray, classes: int) -> np.ndarray:
    """(C, C) counts, rows the true classes.

    Raises:
        ValueError: unequal numbers.
    """
    gold, predicted = np.asarray(gold), np.asarray(predicted)
    if gold.shape != predicted.shape:
        raise ValueError(f"{len(predicted)} predictions for {len(gold)} sentences")
    return np.bincount(gold * classes + predicted, minlength=classes * classes).reshape(classes, classes)


@dataclass(frozen=True)
class ClassScores:
    """Precision, recall and F1 of each class (C,), and their means over classes; 0 where a class has no case."""

    precision: np.ndarray
    recall: np.ndarray
    f1: np.ndarray
    accuracy: float

    @property
    def macro(self) -> tuple[float, float, float]:
        """Means over the classes: precision, recall, F1 (the mean of the classes' F1)."""
        return float(self.precision.mean()), float(self.recall.mean()), float(self.f1.mean())


def class_scores(matrix: np.ndarray) -> ClassScores:
    """From a confusion matrix (C, C)."""
    hits, gold, said = np.diagonal(matrix), matrix.sum(1), matrix.sum(0)
    return ClassScores(
        hits / np.maximum(said, 1),
        hits / np.maximum(gold, 1),
        2 * hits / np.maximum(gold + said, 1),
        float(hits.sum() / max(matrix.sum(), 1)),
    )


def macro_f1(matrix: np.ndarray) -> float:
    """The mean over classes of their F1, from a confusion matrix (C, C)."""
    return class_scores(matrix).macro[2]


def bootstrap_interval(
    gold: Sequence[int] | np.ndarray,
    predicted: Sequence[Sequence[int] | np.ndarray] | np.ndarray,
    classes: int,
    measure: Callable[[np.ndarray], float] = macro_f1,
    level: float = 0.95,
    samples: int = 2000,
    seed: int = 1,
) -> tuple[float, float]:
    """Percentile interval of a measure's mean over runs, with sentences drawn with replacement.

    Args:
        gold: (N,) true classes.
        predicted: one (N,) for each run (seed); all runs see the same draw of sentences, and a run is drawn for
            each place, so that the interval covers both sentences and seeds.
    """
    gold, runs = np.asarray(gold), np.asarray(predicted)
    random = np.random.default_rng(seed)
    found = np.empty(samples)
    for i in range(samples):
        chosen = random.integers(0, len(gold), len(gold))
        drawn = runs[random.integers(0, len(runs), len(runs))]
        found[i] = np.mean([measure(confusion(gold[chosen], run[chosen], classes)) for run in drawn])
    low, high = np.quantile(found, [(1 - level) / 2, (1 + level) / 2])
    return float(low), float(high)


def bootstrap_differences(
    gold: Sequence[int] | np.ndarray,
    first: Sequence[Sequence[int] | np.ndarray] | np.ndarray,
    second: Sequence[Sequence[int] | np.ndarray] | np.ndarray,
    classes: int,
    measure: Callable[[np.ndarray], float] = macro_f1,
    samples: int = 2000,
    seed: int = 1,
) -> np.ndarray:
    """(samples,) differences of a measure's mean over runs, first less second, each of one draw of sentences.

    Args:
        gold, first, second: as in :func:`bootstrap_interval`; both systems see the same draw of sentences, and runs
            are drawn for each by itself.
    """
    gold, systems = np.asarray(gold), (np.asarray(first), np.asarray(second))
    random = np.random.default_rng(seed)
    found = np.empty(samples)
    for i in range(samples):
        chosen = random.integers(0, len(gold), len(gold))
        means = []
        for runs in systems:
            drawn = runs[random.integers(0, len(runs), len(runs))]
            means.append(np.mean([measure(confusion(gold[chosen], run[chosen], classes)) for run in drawn]))
        found[i] = means[0] - means[1]
    return found


def mcnemar(
    gold: Sequence[int] | np.ndarray, first: Sequence[int] | np.ndarray, second: Sequence[int] | np.ndarray
) -> float:
    """Exact two-sided p-value that two classifiers err equally often on the same sentences (McNemar 1947).

    Only sentences that exactly one of them has right count; under equality each is right in half of these.
    """
    gold, first, second = np.asarray(gold), np.asarray(first), np.asarray(second)
    alone = int(((first == gold) & (second != gold)).sum())
    other = int(((first != gold) & (second == gold)).sum())
    if alone + other == 0:
        return 1.0
    return float(scipy.stats.binomtest(alone, alone + other).pvalue)
