"""The shallow baseline guesses labels from lengths, and from what both sentences share unchanged.

A classifier that knows no language solves some corpora. Their negatives differ from their positives in length, or their
positives keep numbers and names. Its accuracy belongs beside a model's.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from fairseq_xl.io.packages import require
from fairseq_xl.text.surface import features

CLASSIFIERS = ("logistic regression", "gradient boosting")


def shallow_baseline(
    pairs: Sequence[tuple[str, str]], labels: Sequence[int], folds: Sequence[int], seed: int
) -> dict[str, float]:
    """Accuracy of each classifier over all pairs. A classifier that saw the other folds judges each fold.

    Raises:
        InputError: scikit-learn is missing.
    """
    linear, ensemble = require("sklearn.linear_model", "corpus"), require("sklearn.ensemble", "corpus")
    pipeline, scaling = require("sklearn.pipeline", "corpus"), require("sklearn.preprocessing", "corpus")
    selection = require("sklearn.model_selection", "corpus")
    values = np.array([features(*pair) for pair in pairs], np.float64)
    gold, fold = np.asarray(labels), np.asarray(folds)
    found = {}
    for name in CLASSIFIERS:
        if name == "gradient boosting":
            model = ensemble.HistGradientBoostingClassifier(random_state=seed)
        else:
            model = pipeline.make_pipeline(scaling.StandardScaler(), linear.LogisticRegression(max_iter=1000))
        predicted = selection.cross_val_predict(model, values, gold, groups=fold, cv=selection.LeaveOneGroupOut())
        found[name] = float((predicted == gold).mean())
    return found
