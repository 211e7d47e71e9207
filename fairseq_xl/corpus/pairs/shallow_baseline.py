"""The shallow baseline guesses labels from lengths, and from what both sentences share unchanged.

A classifier that knows no language solves some corpora. Their negatives differ from their positives in length, or their
positives keep numbers and names. Its accuracy belongs beside a model's.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from fairseq_xl.corpus.documents.words import cosine, punctuation, words
from fairseq_xl.io.packages import require

CLASSIFIERS = ("logistic regression", "gradient boosting")


def features(left: str, right: str) -> list[float]:
    """A pair's lengths and their ratios, shared words, numbers, punctuation and capitals. No word is known."""
    tokens = [words(text) for text in (left, right)]
    found: list[float] = []
    for sizes in ((len(left), len(right)), tuple(map(len, tokens))):
        a, b = sizes
        found += [a, b, abs(a - b), min(a, b) / max(a, b, 1), (a - b) / max(a, b, 1)]
    numbers = [{word for word in side if any(c.isdigit() for c in word)} for side in tokens]
    for one, other in ([set(side) for side in tokens], numbers):
        shared, either = len(one & other), len(one | other)
        found += [shared, len(one ^ other), shared / either if either else 1.0]
    marks = [punctuation(text) for text in (left, right)]
    found.append(cosine(*marks) if all(marks) else float(not any(marks)))
    found += [abs(marks[0].total() - marks[1].total()), float(left[-1:] == right[-1:])]
    capitals = [sum(c.isupper() for c in text) for text in (left, right)]
    found += [abs(capitals[0] - capitals[1]), float(left[:1].isupper() == right[:1].isupper())]
    return found


def shallow_baseline(
    pairs: Sequence[tuple[str, str]], labels: Sequence[int], folds: Sequence[int], seed: int
) -> dict[str, float]:
    """Accuracy of each classifier over all pairs. A classifier that saw the other folds judges each fold.

    Raises:
        InputError: scikit-learn is missing.
    """
    linear, ensemble = require("sklearn.linear_model", "corpus"), require("sklearn.ensemble", "corpus")
    pipeline, scaling = require("sklearn.pipeline", "corpus"), require("sklearn.preprocessing", "corpus")
    values = np.array([features(*pair) for pair in pairs], np.float64)
    gold, fold = np.asarray(labels), np.asarray(folds)
    found = {}
    for name in CLASSIFIERS:
        right = np.zeros(len(gold), bool)
        for held in np.unique(fold):
            if name == "gradient boosting":
                model = ensemble.HistGradientBoostingClassifier(random_state=seed)
            else:
                model = pipeline.make_pipeline(scaling.StandardScaler(), linear.LogisticRegression(max_iter=1000))
            inside = fold == held
            model.fit(values[~inside], gold[~inside])
            right[inside] = model.predict(values[inside]) == gold[inside]
        found[name] = float(right.mean())
    return found
