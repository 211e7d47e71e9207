"""Margin criteria: their options as they reach the losses."""

from __future__ import annotations

import pytest

from fairseq_xl.continuous.criteria.margins import InBatchNegative, MostInformativeNegative, NegativeSampling
from fairseq_xl.io.errors import InputError


@pytest.mark.parametrize(("negative", "semi_hard"), [("hardest", False), ("semi_hard", True)])
def test_which_target_of_the_batch_is_the_negative(negative: str, semi_hard: bool) -> None:
    assert InBatchNegative(None, False, 0.5, negative).loss.semi_hard == semi_hard


def test_a_search_chunk_is_given_in_millions() -> None:
    loss = MostInformativeNegative(None, False, 0.5, 16.0).loss
    assert loss.chunk_elements == 16_000_000


@pytest.mark.parametrize("millions", [0.0, -1.0, float("nan"), float("inf")])
def test_a_search_without_room_is_refused(millions: float) -> None:
    with pytest.raises(InputError, match=r"--search-chunk is .*: give a number of millions above 0"):
        MostInformativeNegative(None, False, 0.5, millions)


def test_no_negatives_are_told_in_one_sentence() -> None:
    with pytest.raises(InputError, match=r"--criterion negative_sampling: .* takes 1 negative or more, not 0"):
        NegativeSampling(None, False, 0.75, 0)
