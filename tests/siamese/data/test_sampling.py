"""Which sentences are paired."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fairseq_xl.io.errors import InputError
from fairseq_xl.siamese.data.sampling import balanced, sample_pairs, sample_references

LABELS = st.lists(st.integers(0, 2), min_size=0, max_size=30).map(lambda more: np.array([0, 0, 1, 1, 2, 2, *more]))


@given(LABELS, LABELS, st.integers(1, 3), st.integers(0, 99), st.booleans())
def test_pairs_are_what_their_kind_says(left, right, per_sentence, seed, balance):
    pairs = sample_pairs(left, right, 3, per_sentence, np.random.default_rng(seed), balance)
    assert len(pairs) == 2 * per_sentence * len(left)
    assert pairs.same.sum() * 2 == len(pairs)
    np.testing.assert_array_equal(left[pairs.left] == right[pairs.right], pairs.same)


@given(LABELS, st.integers(0, 99))
def test_no_sentence_is_paired_with_itself(labels, seed):
    pairs = sample_pairs(labels, labels, 3, 2, np.random.default_rng(seed), one_corpus=True)
    assert (pairs.left != pairs.right).all()


@given(LABELS, st.integers(0, 99))
def test_classes_are_balanced(labels, seed):
    chosen = balanced(labels, 3, np.random.default_rng(seed))
    assert len(chosen) == len(labels)
    counts = Counter(labels[chosen].tolist())
    assert max(counts.values()) - min(counts.values()) <= 1
    # Within a class no sentence comes twice more often than another.
    for c in range(3):
        times = np.bincount(chosen, minlength=len(labels))[labels == c]
        assert times.max() - times.min() <= 1


def test_without_balance_every_sentence_comes_once():
    labels = np.array([0] * 9 + [1])
    pairs = sample_pairs(labels, labels, 2, 1, np.random.default_rng(1), balance=False)
    assert sorted(pairs.left[pairs.same].tolist()) == list(range(10))


def test_other_classes_are_drawn_equally_often_whatever_their_size():
    left, right = np.zeros(3000, dtype=int), np.array([0] * 5 + [1] * 500 + [2] * 5)
    pairs = sample_pairs(left, right, 3, 1, np.random.default_rng(1), balance=False)
    counts = Counter(right[pairs.right[~pairs.same]].tolist())
    assert abs(counts[1] - counts[2]) < 200


def test_draws_repeat_from_their_seed():
    labels = np.array([0, 1, 2] * 10)
    one, two, other = (sample_pairs(labels, labels, 3, 1, np.random.default_rng(s)) for s in ([1, 5], [1, 5], [1, 6]))
    assert one.right.tolist() == two.right.tolist() != other.right.tolist()


@pytest.mark.parametrize(
    ("left", "right", "one_corpus", "said"),
    [
        ([0, 0], [0, 0], False, "pairs need two classes at least"),
        ([0, 1], [1, 2], False, "class 0 has 0 training sentences"),
        ([0, 1, 1], [0, 1, 1], True, "class 0 has 1 training sentences"),
    ],
)
def test_mistakes(left, right, one_corpus, said):
    with pytest.raises(InputError, match=said):
        sample_pairs(np.array(left), np.array(right), 3, 1, np.random.default_rng(1), one_corpus=one_corpus)


def test_references():
    labels = np.array([0] * 50 + [1] * 3)
    chosen = sample_references(labels, 2, 10, np.random.default_rng(1))
    assert Counter(labels[chosen].tolist()) == {0: 10, 1: 3}
    assert len(set(chosen.tolist())) == 13
    with pytest.raises(InputError, match="class 2 has no sentence among the references"):
        sample_references(labels, 3, 10, np.random.default_rng(1))


def test_the_remainder_goes_to_any_class():
    labels, more = np.array([0, 0, 1, 1, 2, 2, 2]), Counter()
    for seed in range(60):
        more[int(np.bincount(labels[balanced(labels, 3, np.random.default_rng(seed))]).argmax())] += 1
    assert min(more[label] for label in range(3)) > 8
