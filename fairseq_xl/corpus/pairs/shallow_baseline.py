"""The shallow baseline guesses labels from lengths, and from what both sentences share unchanged.

A classifier that knows no language solves some corpora. Their negatives differ from their positives in length, or their
positives keep numbers and names. Its accuracy belongs beside a model's.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

import numpy as np

from fairseq_xl.io.packages import require
from fairseq_xl.text.surface import features

if TYPE_CHECKING:
    from fairseq_xl.corpus.pairs.pair import Pair
    from fairseq_xl.corpus.pairs.paraphrases import Labelled

CLASSIFIERS = ("logistic regression", "gradient boosting")


def shallow_baseline(rows: Iterable[Pair | Labelled], seed: int) -> dict[str, float]:
    """Accuracy of each classifier over all pairs but those of the test split, which have no fold. A classifier that saw
    the other folds judges each fold.

    Raises:
        InputError: scikit-learn is missing.
    """
    linear, ensemble = require("sklearn.linear_model", "corpus"), require("sklearn.ensemble", "corpus")
    pipeline, scaling = require("sklearn.pipeline", "corpus"), require("sklearn.preprocessing", "corpus")
    selection = require("sklearn.model_selection", "corpus")
    rows = [row for row in rows if row.fold is not None]
    values = np.array([features(row.sentence1, row.sentence2) for row in rows], np.float64)
    gold, fold = (np.array([getattr(row, name) for row in rows]) for name in ("label", "fold"))
    found = {}
    for name in CLASSIFIERS:
        if name == "gradient boosting":
            model = ensemble.HistGradientBoostingClassifier(random_state=seed)
        else:
            model = pipeline.make_pipeline(scaling.StandardScaler(), linear.LogisticRegression(max_iter=1000))
        predicted = selection.cross_val_predict(model, values, gold, groups=fold, cv=selection.LeaveOneGroupOut())
        found[name] = float((predicted == gold).mean())
    return found
