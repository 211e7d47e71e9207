"""Fit on some groups of pairs and apply to the others: a set calibrated on itself, no pair on its own label."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from fairseq_xl.io.errors import InputError
from fairseq_xl.io.packages import require
from fairseq_xl.pairs.prediction.calibration import CALIBRATIONS, apply

Fit = Callable[[np.ndarray, np.ndarray], Callable[[np.ndarray], np.ndarray]]
"""From inputs (N, …) and labels (N,) to a function from inputs to probabilities (N,)."""


def cross_fit(
    fit: Fit, inputs: np.ndarray, gold: np.ndarray, group: np.ndarray, folds: int, seed: int = 1
) -> np.ndarray:
    """(N,) probabilities, each by what ``fit`` made of the folds that the pair's group is not in.

    Folds hold whole groups and about equal shares of positives (scikit-learn's StratifiedGroupKFold).

    Args:
        inputs: (N, …) of each pair.
        gold: (N,) labels 0 and 1.
        group: (N,)
        folds: at least 2.
        seed: of the draw of the folds.

    Raises:
        InputError: fewer than two folds, or fewer groups than folds; scikit-learn is missing.
    """
    found = len(np.unique(group))
    if not 2 <= folds <= found:
        raise InputError(f"{folds} folds of {found} groups of pairs: there are 2 folds at least, none of them empty")
    model_selection = require("sklearn.model_selection", "pairs")
    splitter = model_selection.StratifiedGroupKFold(folds, shuffle=True, random_state=seed)
    probability = np.empty(len(gold))
    for rest, held_out in splitter.split(inputs, gold, group):
        probability[held_out] = fit(inputs[rest], gold[rest])(inputs[held_out])
    return probability


def calibration(name: str) -> Fit:
    """The fit of a calibration on logits, by its name in CALIBRATIONS."""

    def fit(logits: np.ndarray, gold: np.ndarray) -> Callable[[np.ndarray], np.ndarray]:
        temperature, bias = CALIBRATIONS[name](logits, gold)
        return lambda new: apply(new, temperature, bias)

    return fit
