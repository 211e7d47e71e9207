"""Scores against scikit-learn and by hand; the bootstrap against what theory says."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from fairseq_xl.pairs.evaluation.scores import (
    Scores,
    bootstrap,
    calibration_error,
    log_losses,
    mean,
    reliability,
    scores,
)
from fairseq_xl.report.bootstrap import interval

metrics = pytest.importorskip("sklearn.metrics")
PROBABILITIES = arrays.arrays(np.float64, st.integers(2, 40), elements=st.floats(0, 1))


@given(PROBABILITIES, st.randoms(use_true_random=False))
def test_log_loss_is_scikit_learns(probability, draw):
    gold = np.array([draw.randint(0, 1) for _ in probability])
    expected = metrics.log_loss(gold, probability, labels=[0, 1])
    assert log_losses(gold, probability).mean() == pytest.approx(expected, abs=1e-12)


def test_losses_keep_the_runs_apart():
    losses = log_losses(np.array([1, 0]), np.array([[0.5, 0.75], [0.25, 0.0]]))
    np.testing.assert_allclose(losses, [[math.log(2), math.log(4)], [math.log(4), 0]], atol=1e-15)


def test_reliability_by_hand():
    found = reliability(np.array([0, 1, 1, 1]), np.array([0.1, 0.2, 0.9, 1.0]), bins=2)
    np.testing.assert_allclose(found.said, [0.15, 0.95])
    np.testing.assert_allclose(found.true, [0.5, 1])
    np.testing.assert_array_equal(found.pairs, [2, 2])
    assert calibration_error(np.array([0, 1, 1, 1]), np.array([0.1, 0.2, 0.9, 1.0]), 2) == pytest.approx(0.2)


def test_empty_bins_are_left_out():
    assert reliability(np.array([0, 1]), np.array([0.05, 0.95]), bins=10).pairs.tolist() == [1, 1]


def test_scores_by_hand():
    # Three matches of five; two found, one of those said is wrong.
    found = scores(np.array([1, 1, 1, 0, 0]), np.array([0.9, 0.5, 0.4, 0.6, 0.1]))
    assert found.accuracy == found.weighted_recall == pytest.approx(0.6)
    assert (found.precision, found.recall, found.f1) == pytest.approx((2 / 3, 2 / 3, 2 / 3))
    assert found.weighted_precision == pytest.approx(0.6 * 2 / 3 + 0.4 * 1 / 2)
    assert found.weighted_f1 == pytest.approx(0.6 * 2 / 3 + 0.4 * 1 / 2)
    assert found.average_precision == pytest.approx((1 + 2 / 3 + 3 / 4) / 3)


def test_scores_without_a_match_said_or_true():
    found = scores(np.zeros(3, int), np.array([0.1, 0.2, 0.3]))
    assert (found.precision, found.recall, found.f1) == (0, 0, 0)
    assert math.isnan(found.average_precision)


def test_means_over_runs():
    one, other = Scores(*range(10)), Scores(*range(2, 12))
    assert mean([one, other]) == Scores(*(float(x) for x in range(1, 11)))


def test_the_bootstrap_of_single_pairs_is_as_wide_as_the_normal_interval():
    values = np.random.default_rng(1).normal(size=(1, 400))
    low, high = interval(bootstrap([values], np.arange(400), 2000)[:, 0])
    expected = 1.96 * values.std() / 20
    assert (high - low) / 2 == pytest.approx(expected, rel=0.1)
    assert (high + low) / 2 == pytest.approx(values.mean(), abs=0.1 * expected)


def test_groups_are_drawn_whole():
    # Groups of four equal values: the interval is that of 100 pairs, twice as wide as that of 400.
    values = np.repeat(np.random.default_rng(1).normal(size=100), 4)[None]
    single, whole = (
        np.ptp(interval(bootstrap([values], group, 2000)[:, 0])) for group in (np.arange(400), np.arange(400) // 4)
    )
    assert whole / single == pytest.approx(2, rel=0.1)


def test_groups_of_unequal_size_weigh_what_they_hold():
    draws = bootstrap([np.array([[0.0, 0.0, 0.0, 1.0]])], np.array([7, 7, 7, 3]), 500)[:, 0]
    np.testing.assert_allclose(sorted(set(draws.round(6))), [0, 0.25, 1])


def test_runs_are_drawn_too():
    runs = np.stack([np.zeros(50), np.ones(50), np.ones(50)])
    draws = bootstrap([runs], np.arange(50), 500)[:, 0]
    assert sorted(set(draws)) == [0, 0.5, 1], "two of three"


def test_a_paired_difference_knows_that_the_pairs_are_the_same():
    random = np.random.default_rng(1)
    hard = random.normal(size=(1, 300))
    better = hard - 0.1 + 0.01 * random.normal(size=(1, 300))
    draws = bootstrap([better, hard], np.arange(300), 500)
    low, high = interval(draws[:, 0] - draws[:, 1])
    assert low < better.mean() - hard.mean() < high < -0.09
    np.testing.assert_array_equal(bootstrap([better, hard], np.arange(300), 500), draws)


def test_classifiers_may_have_different_numbers_of_runs():
    draws = bootstrap([np.ones((3, 4)), np.zeros((1, 4))], np.arange(4), 10)
    np.testing.assert_array_equal(draws, np.tile([1.0, 0.0], (10, 1)))
