"""How sure are equal keys? The audit of Hadgu 2018, section 3.2, on labelled pairs, with the two methods that the
paper rejects.

A method finds a pair if it takes the sentences for the same. Recovered is the share of the matching pairs that it
finds. Precision is the share of the found pairs that match.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Sequence

import numpy as np
from scipy import sparse

from fairseq_xl.io.errors import InputError
from fairseq_xl.pairs.augmentation.key import EnglishKey, normal_form
from fairseq_xl.pairs.data.source import Pair
from fairseq_xl.pairs.evaluation.similarity import shared_words
from fairseq_xl.report.tables import Table

FOLDS = 5
THRESHOLD = 0.5


def same(pairs: Sequence[Pair], form: Callable[[str], Hashable | None]) -> np.ndarray:
    """(N,) whether both sentences of a pair have one form. None is not a form."""
    forms = ((form(pair.left), form(pair.right)) for pair in pairs)
    return np.array([left is not None and left == right for left, right in forms])


def classified(pairs: Sequence[Pair], seed: int = 1) -> np.ndarray:
    """(N,) whether a classifier takes the sentences of a pair for the same, judged by one that has seen neither.

    Questions (not pairs) are dealt into folds by lot. There is one classifier for each fold, and one for each two
    folds. It is trained on the pairs without any question of these folds, and judges the pairs whose questions are in
    them. It is a logistic regression with the threshold 0.5 on similarities of the sentences. Three are cosines of
    TF-IDF vectors: of words, of words and pairs of words, and of three to five letters. The fourth is the share of
    common words.

    Raises:
        InputError: there are fewer than two questions a fold, or the training pairs have one label only.
    """
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    left, right = ([normal_form(getattr(pair, side)) for pair in pairs] for side in ("left", "right"))
    questions = sorted({*left, *right})
    if len(questions) < 2 * FOLDS:
        raise InputError(f"{len(questions)} questions are too few for {FOLDS} folds")
    place = {question: row for row, question in enumerate(questions)}
    rows = np.array([[place[question] for question in side] for side in (left, right)])
    labels = np.array([pair.label for pair in pairs])
    overlap = shared_words([text.split() for text in left], [text.split() for text in right])
    counts = _counts(questions)
    found = np.zeros(len(pairs), dtype=bool)
    for judged, trained, known in splits(rows, FOLDS, seed):
        if len(set(labels[trained])) < 2:
            raise InputError("the training pairs of a fold have one label: the classifier needs more pairs")
        features = np.column_stack([*_cosines(counts, known, rows), overlap])
        model = make_pipeline(StandardScaler(), LogisticRegression())
        model.fit(features[trained], labels[trained])
        found[judged] = model.predict_proba(features[judged])[:, 1] > THRESHOLD
    return found


def splits(rows: np.ndarray, folds: int, seed: int) -> Iterator[tuple[np.ndarray, np.ndarray, np.ndarray]]:
    """Deal questions into folds, and yield for each fold and each two folds what is judged, trained on and known.

    Args:
        rows: (2, N) the questions of each pair, numbered from 0.

    Yields:
        (N,) pairs whose questions are of just these folds, (N,) pairs with no question of them, and which questions
        are of other folds.
    """
    fold = np.random.default_rng(seed).permutation(rows.max() + 1) % folds
    folds_of = np.sort(fold[rows], 0)
    for held_out in np.unique(folds_of, axis=1).T:
        judged = (folds_of == held_out[:, None]).all(0)
        trained = np.asarray(~np.isin(folds_of, held_out).any(0))
        yield judged, trained, ~np.isin(fold, held_out)


def _counts(sentences: Sequence[str]) -> list[sparse.csr_matrix]:
    """For each kind of feature (sentences, features): how often a sentence has it."""
    from sklearn.feature_extraction.text import CountVectorizer

    kinds = (
        {"token_pattern": r"\S+"},
        {"token_pattern": r"\S+", "ngram_range": (1, 2)},
        {"analyzer": "char_wb", "ngram_range": (3, 5)},
    )
    return [CountVectorizer(**kind).fit_transform(sentences) for kind in kinds]


def _cosines(counts: Sequence[sparse.csr_matrix], known: np.ndarray, rows: np.ndarray) -> list[np.ndarray]:
    """For each kind (N,) cosines of TF-IDF vectors, with the document frequencies of the known sentences.

    Args:
        counts: of the sentences, as :func:`_counts` gives them.
        known: (sentences,) which of them may be looked at.
        rows: (2, N) the sentences of each pair.
    """
    from sklearn.feature_extraction.text import TfidfTransformer

    cosines = []
    for kind in counts:
        vectors = TfidfTransformer(sublinear_tf=True).fit(kind[known]).transform(kind)
        cosines.append(np.asarray(vectors[rows[0]].multiply(vectors[rows[1]]).sum(1)).ravel())
    return cosines


def audit(pairs: Sequence[Pair], key: EnglishKey, seed: int = 1) -> tuple[Table, dict[str, np.ndarray]]:
    """A row for each method, and which pairs each found.

    Raises:
        InputError: pairs have no labels, or are too few for the classifier.
    """
    labels = np.array([pair.label for pair in pairs])
    matching = int(labels.sum())
    if not 0 < matching < len(pairs):
        raise InputError("an audit needs matching pairs and others: give labelled pairs of both kinds")
    methods = {
        "equal keys": same(pairs, key),
        "exact match": same(pairs, normal_form),
        "classifier": classified(pairs, seed),
    }
    table = Table(
        f"{matching:,} matching pairs of {len(pairs):,}", ["method", "recovered", "share", "false", "precision"]
    )
    for name, found in methods.items():
        right, wrong = int(labels[found].sum()), int((1 - labels[found]).sum())
        precision = f"{right / (right + wrong):.2%}" if right + wrong else "–"
        table.add(name, f"{right:,}", f"{right / matching:.2%}", f"{wrong:,}", precision)
    return table, methods
