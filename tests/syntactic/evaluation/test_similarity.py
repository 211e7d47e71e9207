from __future__ import annotations

from functools import cache

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from fairseq_xl.syntactic.evaluation.similarity import similarities


def recursive(a: tuple[str, ...], b: tuple[str, ...]) -> int:
    """The Levenshtein distance by its definition."""

    @cache
    def distance(i: int, j: int) -> int:
        if not i or not j:
            return i + j
        change = distance(i - 1, j - 1) + (a[i - 1] != b[j - 1])
        return min(change, distance(i - 1, j) + 1, distance(i, j - 1) + 1)

    return distance(len(a), len(b))


sequences = st.lists(st.lists(st.sampled_from(["NOUN", "VERB", "DET"]), max_size=8).map(tuple), min_size=1, max_size=6)


@given(queries=sequences, candidates=sequences)
def test_similarities_are_those_of_the_definition(queries, candidates) -> None:
    expected = [[1 - recursive(a, b) / max(len(a), len(b), 1) for b in candidates] for a in queries]
    np.testing.assert_array_equal(similarities(queries, candidates), expected)


def test_by_hand() -> None:
    texts = [("DET", "NOUN", "VERB"), ("NOUN", "VERB"), ("PRON",), (), ("DET", "NOUN", "VERB")]
    expected = [[1, 2 / 3, 0, 0, 1], [2 / 3, 1, 0, 0, 2 / 3], [0, 0, 1, 0, 0], [0, 0, 0, 1, 0], [1, 2 / 3, 0, 0, 1]]
    np.testing.assert_allclose(similarities(texts, texts), expected)
    np.testing.assert_allclose(similarities(texts[1:3], texts), expected[1:3])


def test_long_sequences() -> None:
    """Longer than a machine word has bits."""
    long, longer = ("NOUN",) * 150, ("NOUN",) * 140 + ("VERB",) * 170
    found = similarities([long, ("VERB",)], [longer, ()])
    np.testing.assert_allclose(found, [[1 - 170 / 310, 0], [1 / 310, 0]])
