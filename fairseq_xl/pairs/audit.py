"""How sure are equal keys? The audit of Hadgu 2018, section 3.2, on labelled pairs, with the two matchers it rejects.

Of labelled pairs, those are found whose sentences a matcher takes for the same. Recovered is the share of the matching
pairs that are found; precision the share of the found pairs that match.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence

import numpy as np

from fairseq_xl.errors import InputError
from fairseq_xl.pairs.key import EnglishKey, normal_form
from fairseq_xl.pairs.source import Pair
from fairseq_xl.report.tables import Table

FOLDS = 5
THRESHOLD = 0.5


def same(pairs: Sequence[Pair], form: Callable[[str], Hashable | None]) -> np.ndarray:
    """(N,) whether both sentences of a pair have one form; None is no form."""
    forms = ((form(pair.left), form(pair.right)) for pair in pairs)
    return np.array([left is not None and left == right for left, right in forms])


def classified(pairs: Sequence[Pair], seed: int = 1, folds: int = FOLDS) -> np.ndarray:
    """(N,) whether a classifier takes the sentences of a pair for the same, judged by one that has seen neither.

    Questions (not pairs) are dealt into folds by lot. The pairs with a question in a fold or two are judged by the
    classifier trained on the pairs without any question of those folds: one classifier for each fold, and one for each
    two folds. It is a logistic regression, threshold 0.5, on the similarities of the sentences: the cosines of their
    TF-IDF vectors of words, of pairs of words and of three to five letters, and the share of common words.

    Raises:
        InputError: fewer than two questions a fold, or training pairs of one label only.
    """
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    left, right = (
        [normal_form(getattr(pair, side)) for pair in pairs] for side in ("left", "right")
    )
    questions = sorted({*left, *right})
    if len(questions) < 2 * folds:
        raise InputError(f"{len(questions)} questions are too few for {folds} folds")
    dealt = np.random.default_rng(seed).permutation(len(questions)) % folds
    fold = dict(zip(questions, dealt.tolist(), strict=True))
    places = np.array([sorted((fold[a], fold[b])) for a, b in zip(left, right, strict=True)])
    labels = np.array([pair.label for pair in pairs])
    found = np.zeros(len(pairs), dtype=bool)
    for one, other in np.unique(places, axis=0):
        judged = (places == (one, other)).all(1)
        trained = ~np.isin(places, (one, other)).any(1)
        if len(set(labels[trained])) < 2:
            raise InputError(
                "the training pairs of a fold have one label: the classifier needs more pairs"
            )
        known = [q for q in questions if fold[q] not in (one, other)]
        features = _features(known, left, right)
        model = make_pipeline(StandardScaler(), LogisticRegression())
        model.fit(features[trained], labels[trained])
        found[judged] = model.predict_proba(features[judged])[:, 1] > THRESHOLD
    return found


def _features(known: Sequence[str], left: Sequence[str], right: Sequence[str]) -> np.ndarray:
    """(N, 4) similarities of the pairs; document frequencies are those of the known sentences."""
    from sklearn.feature_extraction.text import TfidfVectorizer

    columns = []
    for options in (
        {"token_pattern": r"\S+"},
        {"token_pattern": r"\S+", "ngram_range": (2, 2)},
        {"analyzer": "char_wb", "ngram_range": (3, 5)},
    ):
        vectors = TfidfVectorizer(sublinear_tf=True, **options).fit(known)
        a, b = vectors.transform(left), vectors.transform(right)
        columns.append(np.asarray(a.multiply(b).sum(1)).ravel())
    columns.append(np.array([_overlap(a, b) for a, b in zip(left, right, strict=True)]))
    return np.column_stack(columns)


def _overlap(left: str, right: str) -> float:
    """Common words by all words."""
    a, b = set(left.split()), set(right.split())
    return len(a & b) / max(1, len(a | b))


def audit(
    pairs: Sequence[Pair], key: EnglishKey, seed: int = 1
) -> tuple[Table, dict[str, np.ndarray]]:
    """A row for each matcher, and which pairs each found.

    Raises:
        InputError: pairs without labels, or too few for the classifier.
    """
    labels = np.array([pair.label for pair in pairs])
    matching = int(labels.sum())
    if not 0 < matching < len(pairs):
        raise InputError("an audit needs matching and other pairs")
    matchers = {
        "equal keys": same(pairs, key),
        "exact match": same(pairs, normal_form),
        "classifier": classified(pairs, seed),
    }
    table = Table(
        f"{matching:,} matching pairs of {len(pairs):,}",
        ["matcher", "recovered", "share", "false", "precision"],
    )
    for name, found in matchers.items():
        right, wrong = int(labels[found].sum()), int((1 - labels[found]).sum())
        precision = f"{right / (right + wrong):.2%}" if right + wrong else "–"
        table.add(name, f"{right:,}", f"{right / matching:.2%}", f"{wrong:,}", precision)
    return table, matchers
