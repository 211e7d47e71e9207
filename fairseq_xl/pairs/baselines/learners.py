"""What weighs a baseline's features, and the training of a baseline."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from sklearn.dummy import DummyClassifier
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from fairseq_xl.io.errors import InputError
from fairseq_xl.pairs.baselines import BASELINES, features
from fairseq_xl.pairs.baselines.features import Features, Training
from fairseq_xl.pairs.data.directory import Row

LEARNERS: dict[str, Callable[[int], Any]] = {
    # No early stopping: scikit-learn's holds out rows at random, whose sentences stand in others.
    "boosting": lambda seed: HistGradientBoostingClassifier(
        learning_rate=0.05, max_iter=200, max_leaf_nodes=15, early_stopping=False, random_state=seed
    ),
    "logistic": lambda seed: make_pipeline(StandardScaler(), LogisticRegression(random_state=seed, max_iter=1000)),
    "share": lambda seed: DummyClassifier(strategy="prior"),
}
"""scikit-learn's, from a seed."""


def fit(name: str, data: Training, seed: int, learner: str | None = None) -> Callable[[Sequence[Row]], np.ndarray]:
    """A trained baseline: from N pairs to the (N,) probabilities that they match.

    Args:
        name: in BASELINES.
        seed: of the training; only boosting draws.
        learner: in LEARNERS; None for the usual one.

    Raises:
        InputError: training pairs that are all of one label; what the baseline needs and has not.
    """
    gold = [row.label for row in data.rows]
    if set(gold) != {0, 1}:
        raise InputError("a baseline learns from labelled pairs, some that match and some that do not: prepare such")
    make: Callable[[Training], Features] = getattr(features, name)
    compare = make(data)
    model = LEARNERS[learner or BASELINES[name]](seed).fit(compare(data.rows), gold)
    return lambda rows: model.predict_proba(compare(rows))[:, 1]
