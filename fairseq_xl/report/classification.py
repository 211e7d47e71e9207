"""How good predicted classes are, and whether one classifier is better than another. Takes plain numbers.

Scores equal scikit-learn's, which a test checks. They are computed here from a confusion matrix, since training
validates by them without that package and a bootstrap takes thousands of them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import scipy.stats

from fairseq_xl.report.bootstrap import drawn_runs, interval

Labels: TypeAlias = Sequence[int] | np.ndarray
"""(N,) class numbers."""


def confusion(gold: Labels, predicted: Labels, classes: int) -> np.ndarray:
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
    gold: Labels,
    predicted: Sequence[Labels],
    classes: int,
    samples: int = 2000,
) -> tuple[float, float]:
    """95 % percentile interval of the macro-F1's mean over runs, with sentences drawn with replacement.

    Args:
        gold: (N,) true classes.
        predicted: one (N,) for each run (seed). All runs see the same draw of sentences, and runs are drawn, too. The
            interval therefore covers both sentences and seeds.
    """
    return interval(_bootstrap(gold, [predicted], classes, samples)[:, 0])


def bootstrap_differences(
    gold: Labels,
    first: Sequence[Labels],
    second: Sequence[Labels],
    classes: int,
    samples: int = 2000,
) -> np.ndarray:
    """(samples,) differences of the macro-F1's mean over runs, first less second, each of one draw of sentences.

    Args:
        gold, first, second: as in :func:`bootstrap_interval`. Both systems see the same draw of sentences, and runs are
            drawn for each by itself.
    """
    means = _bootstrap(gold, [first, second], classes, samples)
    return means[:, 0] - means[:, 1]


def _bootstrap(gold: Labels, systems: Sequence[Sequence[Labels]], classes: int, samples: int) -> np.ndarray:
    """(samples, systems) means over drawn runs of the macro-F1 on drawn sentences."""
    gold, given = np.asarray(gold), [np.asarray(runs) for runs in systems]
    random = np.random.default_rng(1)
    means = np.empty((samples, len(given)))
    for row in means:
        chosen = random.integers(0, len(gold), len(gold))
        for place, runs in enumerate(given):
            drawn = runs[drawn_runs(random, len(runs))]
            row[place] = np.mean([_present_f1(confusion(gold[chosen], run[chosen], classes)) for run in drawn])
    return means


def _present_f1(matrix: np.ndarray) -> float:
    """The macro-F1 over those classes that a draw has: of the others, it says nothing."""
    return float(class_scores(matrix).f1[(matrix.sum(0) + matrix.sum(1)) > 0].mean())


def mcnemar(gold: Labels, first: Labels, second: Labels) -> float:
    """Exact two-sided p-value that two classifiers err equally often on the same sentences (McNemar 1947).

    Only sentences that exactly one of them has right count; under equality each is right in half of these.
    """
    gold, first, second = np.asarray(gold), np.asarray(first), np.asarray(second)
    alone = int(((first == gold) & (second != gold)).sum())
    other = int(((first != gold) & (second == gold)).sum())
    if alone + other == 0:
        return 1.0
    return float(scipy.stats.binomtest(alone, alone + other).pvalue)
