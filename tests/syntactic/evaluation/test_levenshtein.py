from __future__ import annotations

from functools import cache

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from fairseq_xl.syntactic.evaluation.levenshtein import COLUMNS, Similarities, distances


def recursive(a: tuple[str, ...], b: tuple[str, ...]) -> int:
    """By the definition."""

    @cache
    def distance(i: int, j: int) -> int:
        if not i or not j:
            return i + j
        change = distance(i - 1, j - 1) + (a[i - 1] != b[j - 1])
        return min(change, distance(i - 1, j) + 1, distance(i, j - 1) + 1)

    return distance(len(a), len(b))


sequences = st.lists(st.lists(st.sampled_from("NVDA"), max_size=8).map(tuple), min_size=1, max_size=6)


@given(first=sequences, second=sequences)
def test_distances_are_those_of_the_definition(first, second) -> None:
    expected = [[recursive(a, b) for b in second] for a in first]
    np.testing.assert_array_equal(distances(first, second), expected)


def test_by_hand() -> None:
    first = [tuple("kitten")]
    np.testing.assert_array_equal(distances(first, [tuple("sitting"), tuple("kitten"), ()]), [[3, 0, 6]])


def test_similarity_is_normalised_by_the_longer() -> None:
    texts = [("DET", "NOUN", "VERB"), ("NOUN", "VERB"), ("PRON",), (), ("DET", "NOUN", "VERB")]
    found = Similarities(texts, texts)
    expected = [[1, 2 / 3, 0, 0, 1], [2 / 3, 1, 0, 0, 2 / 3], [0, 0, 1, 0, 0], [0, 0, 0, 1, 0], [1, 2 / 3, 0, 0, 1]]
    np.testing.assert_allclose(found.rows(0, 5), expected)
    np.testing.assert_allclose(found.rows(1, 3), expected[1:3])


def test_long_and_many_sequences() -> None:
    """Longer than eight bits count, and more than are compared side by side."""
    long, longer = ("NOUN",) * 150, ("NOUN",) * 140 + ("VERB",) * 170
    np.testing.assert_array_equal(distances([long, ("VERB",)], [longer, ()]), [[170, 150], [309, 1]])
    many = [("NOUN",) * (i % 7) + ("VERB",) for i in range(COLUMNS + 9)]
    found = distances(many[:7], many)
    np.testing.assert_array_equal(found, [[abs(i % 7 - j % 7) for j in range(len(many))] for i in range(7)])
