"""Margin criteria: their options as they reach the losses."""

from __future__ import annotations

import pytest

from fairseq_xl.continuous.criteria.margins import InBatchNegative, MostInformativeNegative


@pytest.mark.parametrize(("negative", "semi_hard"), [("hardest", False), ("semi_hard", True)])
def test_which_target_of_the_batch_is_the_negative(negative: str, semi_hard: bool) -> None:
    assert InBatchNegative(None, False, 0.5, negative).loss.semi_hard == semi_hard


def test_a_search_chunk_is_given_in_millions() -> None:
    loss = MostInformativeNegative(None, False, 0.5, 16.0).loss
    assert loss.chunk_elements == 16_000_000
