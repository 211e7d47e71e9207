"""The rules of negatives, by hand."""

from __future__ import annotations

import numpy as np
from positive_pairs import positives_of

from fairseq_xl.corpus.pairs.rules import NearDuplicates, Overlaps


def test_what_means_the_same_is_a_near_duplicate():
    positives = positives_of(
        ["the cat sat down here", "here the cat sat down", "a dog", "one bird", "two birds"],
        ["x", "y", "le grand chien noir dort", "le grand chien noir dort bien", "z"],
        [0, 1, 2, 3, 4],
    )
    positives.seconds[4].add("x")  # stands beside x on another page
    near_duplicates = NearDuplicates(positives, 0.9)
    assert near_duplicates(np.array([0, 2, 0, 0, 2]), np.array([1, 3, 4, 2, 4])).tolist() == [
        True,
        True,
        True,
        False,
        False,
    ]


def test_overlaps_by_hand():
    """The first sentence shares 1 word of 3 with its own; with the others none, 1 of 3, and 2 of 2."""
    positives = positives_of(["Set X", "b", "c", "d"], ["régler x", "un deux", "le x", "set x x"], list(range(4)))
    places = np.array([0, 0, 0]), np.array([1, 2, 3])
    assert Overlaps(positives, 0.2)(*places).tolist() == [False, True, False]
    assert Overlaps(positives, 0.4)(*places).tolist() == [True, True, False]
    assert Overlaps(positives, 1)(*places).all()


def test_shared_punctuation_counts_each_mark():
    """The first sentence shares 2 marks of 3 with its own; with the others 2 of 3, 1 of 3, and 0 of 3."""
    positives = positives_of(["a (b).", "c", "d", "e"], ["f (g)", "h (i)", "j (k", "l"], list(range(4)))
    places = np.array([0, 0, 0]), np.array([1, 2, 3])
    assert Overlaps(positives, 0.3)(*places).tolist() == [True, False, False]
    assert Overlaps(positives, 0.4)(*places).tolist() == [True, True, False]
    positives = positives_of(["a!!!", "b"], ["c!!!", "d!"], [0, 1])
    assert not Overlaps(positives, 0.5)(np.array([0]), np.array([1])).any(), "one of three is another share"
