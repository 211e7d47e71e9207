"""A bias for each class, fitted on labelled sentences that nothing was trained on.

Training draws classes alike, so that a classifier takes rare ones for as frequent as the others and loses precision
where there are many. A bias on each class's score, chosen by macro-F1, gives the classes their shares back.
"""

from __future__ import annotations

import numpy as np

from fairseq_xl.report.classification import confusion, macro_f1

STEPS, ROUNDS = 20, 5
"""Values that are tried of a class's bias, and how often all classes are gone through."""


def fit_bias(scores: np.ndarray, gold: np.ndarray) -> np.ndarray:
    """(C,) biases: one class after the other gets the best of some values, until none gets better.

    Args:
        scores: (N, C) of sentences; a sentence's class is that of the highest score plus bias.
        gold: (N,) class numbers.
    """
    classes = scores.shape[1]
    bias = np.zeros(classes)

    def quality() -> float:
        return macro_f1(confusion(gold.tolist(), (scores + bias).argmax(1).tolist(), classes))

    best = quality()
    for _ in range(ROUNDS):
        before = best
        for number in range(classes):
            others = np.delete(scores + bias, number, axis=1).max(1)
            # At these values a sentence more, or some, gets this class.
            tried = np.quantile(others - scores[:, number], np.linspace(0, 1, STEPS + 1))
            kept = bias[number]
            for value in tried:
                bias[number] = value
                if (found := quality()) > best:
                    best, kept = found, value
            bias[number] = kept
        if best == before:
            break
    return bias
