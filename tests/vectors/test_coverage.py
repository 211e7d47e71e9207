from __future__ import annotations

import math

import pytest

from fairseq_xl.vectors.coverage import coverage

COUNTS = {"the": 70, "cat": 20, "xylem": 1, "zither": 9}


def test_types_and_tokens_are_counted_apart() -> None:
    result = coverage(COUNTS, ["cat", "the", "dog"])
    assert (result.types, result.covered_types, result.type_share) == (4, 2, 0.5)
    assert (result.tokens, result.covered_tokens, result.token_share) == (100, 90, 0.9)
    assert result.missing == [("zither", 9), ("xylem", 1)], "the most frequent first"
    assert str(result) == "2 of 4 words have a vector (50.00% of the words, 90.00% of the tokens)"


@pytest.mark.parametrize("kind", [list, set, tuple, dict.fromkeys])
def test_any_collection_of_words_will_do(kind) -> None:
    assert coverage(COUNTS, kind(COUNTS)).missing == []
    assert coverage(COUNTS, kind([])).covered_types == 0


def test_a_dictionary_without_counts_has_no_share_of_tokens() -> None:
    result = coverage({"a": 0, "b": 0}, ["a"])
    assert math.isnan(result.token_share)
    assert str(result) == "1 of 2 words have a vector (50.00% of the words)"
