"""Shares of pairs in an epoch."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fairseq_xl.syntactic.data.sampling import apportion, draw

SIZES = st.lists(st.integers(1, 10**7), min_size=1, max_size=30)


@given(SIZES)
def test_temperature_one_keeps_every_sentence(sizes):
    assert apportion(sizes, 1.0).tolist() == sizes


@given(SIZES, st.floats(0.05, 1e6))
def test_shares_are_the_powers_to_the_next_whole_number(sizes, temperature):
    counts = apportion(sizes, temperature)
    assert counts.sum() == sum(sizes)
    powers = (np.array(sizes) / max(sizes)) ** (1 / temperature)
    exact = sum(sizes) * powers / powers.sum()
    assert np.abs(counts - exact).max() < 1 + 1e-6 * sum(sizes)
    assert (counts >= 0).all()


def test_a_high_temperature_makes_pairs_equal():
    assert apportion([1000, 10, 10], 1e9).tolist() == [340, 340, 340]
    assert apportion([9, 1], 2.0).tolist() == [8, 2]  # 7.5 and 2.5: the first of equals has more


@pytest.mark.parametrize(("count", "least", "most"), [(0, 0, 0), (4, 0, 1), (7, 1, 1), (17, 2, 3)])
def test_rows_are_repeated_only_when_all_were_taken(count, least, most):
    found = draw(np.arange(50, 57), count, np.random.default_rng(1))
    times = np.bincount(found - 50, minlength=7)
    assert (len(found), times.min(), times.max()) == (count, least, most)
