"""Calibration: simulated truths are found again, order stays, and everything agrees with slow oracles."""

from __future__ import annotations

import json

import numpy as np
import pytest
import scipy.optimize
from hypothesis import assume, given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays
from scipy.special import expit

from fairseq_xl.io.errors import InputError
from fairseq_xl.pairs.prediction import calibration
from fairseq_xl.pairs.prediction.calibration import (
    COLDEST,
    HOTTEST,
    Calibration,
    apply,
    calibrated,
    estimate_prior,
    fit_platt,
    fit_temperature,
    logits,
    shift_prior,
)
from fairseq_xl.pairs.prediction.ensemble import cross_fit

LOGITS = arrays.arrays(np.float64, st.integers(4, 30), elements=st.floats(-20, 20, width=32))
SHARES = st.floats(0.01, 0.99)


def simulated(size: int, temperature: float, bias: float = 0.0, seed: int = 1):
    """Logits and labels for which σ(z/T + b) is the truth."""
    random = np.random.default_rng(seed)
    z = random.normal(-1, 3, size)
    return z, (random.random(size) < expit(z / temperature + bias)).astype(int)


@pytest.mark.parametrize("temperature", [0.5, 1.0, 2.5])
def test_a_known_temperature_is_found(temperature):
    assert fit_temperature(*simulated(40_000, temperature)) == pytest.approx(temperature, rel=0.03)


def test_a_known_temperature_and_bias_are_found():
    assert fit_platt(*simulated(40_000, 2.0, -0.7)) == pytest.approx((2.0, -0.7), rel=0.06)


@given(LOGITS, st.randoms(use_true_random=False))
def test_no_temperature_is_better(z, draw):
    gold = np.array([draw.randint(0, 1) for _ in z])
    assume(gold.min() < gold.max())

    def loss(temperature: float) -> float:
        return float(np.mean(np.logaddexp(0, z / temperature) - gold * z / temperature))

    found = fit_temperature(z, gold)
    assert COLDEST <= found <= HOTTEST
    assert loss(found) <= min(loss(t) for t in np.geomspace(COLDEST, HOTTEST, 200)) + 1e-9


def test_platt_agrees_with_a_general_minimiser():
    z, gold = simulated(200, 1.7, 0.4)
    n = gold.sum()
    target = np.where(gold == 1, (n + 1) / (n + 2), 1 / (len(gold) - n + 2))

    def loss(x):
        return -np.mean(target * np.log(expit(z * x[0] + x[1])) + (1 - target) * np.log(expit(-z * x[0] - x[1])))

    oracle = scipy.optimize.minimize(loss, [1, 0], method="Nelder-Mead", options={"xatol": 1e-9, "fatol": 1e-14}).x
    temperature, bias = fit_platt(z, gold)
    assert (1 / temperature, bias) == pytest.approx(tuple(oracle), abs=1e-5)


def test_the_ends_of_the_range():
    z, gold = np.array([-2.0, -1.0, 1.0, 2.0]), np.array([0, 0, 1, 1])
    assert fit_temperature(z, gold) == COLDEST
    assert fit_temperature(-z, gold) == HOTTEST
    assert fit_temperature(0 * z, gold) == 1
    temperature, bias = fit_platt(-z, gold)
    assert temperature == pytest.approx(HOTTEST)
    assert abs(bias) < 0.1


@pytest.mark.parametrize("fit", [fit_temperature, fit_platt])
def test_one_kind_of_label_is_not_enough(fit):
    with pytest.raises(InputError, match="that match and pairs that do not"):
        fit(np.array([1.0, 2.0]), np.array([1, 1]))


@given(LOGITS, st.floats(COLDEST, HOTTEST), st.floats(-3, 3), SHARES, SHARES)
def test_order_stays(z, temperature, bias, training, prior):
    probability = apply(z, temperature, bias)
    shifted = shift_prior(probability, training, prior)
    order = np.argsort(z, kind="stable")
    assert (np.diff(probability[order]) >= 0).all()
    assert (np.diff(shifted[order]) >= -1e-15).all()
    assert ((shifted >= 0) & (shifted <= 1)).all()


def test_logits_are_finite_and_undone():
    assert np.isfinite(logits(np.array([0.0, 1.0]))).all()
    np.testing.assert_allclose(apply(logits(np.array([0.01, 0.5, 0.99])), 1.0), [0.01, 0.5, 0.99], rtol=1e-14)


@given(arrays.arrays(np.float64, 8, elements=st.floats(0, 1)), SHARES, SHARES)
def test_a_shift_of_the_prior_is_undone_by_its_reverse(probability, training, prior):
    there = shift_prior(probability, training, prior)
    np.testing.assert_allclose(shift_prior(there, prior, training), probability, atol=1e-9)
    np.testing.assert_array_equal(shift_prior(np.array([0.0, 1.0]), training, prior), [0, 1])


def test_bayes_rule_for_another_prior():
    """A measurement with two normal densities: the shifted posterior is the posterior under the other share."""
    x = np.linspace(-2, 3, 11)
    yes, no = np.exp(-((x - 1) ** 2) / 2), np.exp(-(x**2) / 2)

    def posterior(share):
        return share * yes / (share * yes + (1 - share) * no)

    np.testing.assert_allclose(shift_prior(posterior(0.25), 0.25, 0.6), posterior(0.6), rtol=1e-12)


@pytest.mark.parametrize("share", [0.05, 0.154, 0.5, 0.9])
def test_a_known_prior_is_found(share):
    random = np.random.default_rng(1)
    gold = random.random(40_000) < share
    x = random.normal(2.0 * gold)
    posterior = expit(2 * x - 2 + np.log(0.25 / 0.75))  # of a classifier trained on a quarter of matches
    assert estimate_prior(posterior, 0.25) == pytest.approx(share, abs=0.01)


@given(arrays.arrays(np.float64, 12, elements=st.floats(0.02, 0.98)), st.floats(0.1, 0.9))
def test_the_estimate_is_where_em_ends(probability, training):
    found = estimate_prior(probability, training)
    step = shift_prior(probability, training, found).mean()  # one step of EM
    if found == pytest.approx(1 / 13):
        assert step <= found + 1e-9
    elif found == pytest.approx(12 / 13):
        assert step >= found - 1e-9
    else:
        assert step == pytest.approx(found, abs=1e-9)


def test_em_itself():
    probability = np.array([0.05, 0.1, 0.2, 0.4, 0.8, 0.9])
    share = 0.3
    for _ in range(2000):
        share = shift_prior(probability, 0.3, share).mean()
    assert estimate_prior(probability, 0.3) == pytest.approx(share, abs=1e-9)


def test_probabilities_that_say_nothing_leave_the_prior():
    assert estimate_prior(np.full(5, 0.3), 0.3) == 0.3


def test_impossible_shares():
    for bad in (0.0, 1.0):
        with pytest.raises(ValueError, match="lies between 0 and 1"):
            shift_prior(np.array([0.5]), bad, 0.5)
        with pytest.raises(ValueError, match="lies between 0 and 1"):
            estimate_prior(np.array([0.5]), bad)


# --- fitted on some groups, applied to the others ---


def test_no_pair_sees_its_group():
    pytest.importorskip("sklearn")
    random = np.random.default_rng(1)
    group = random.integers(0, 12, 200)
    gold = random.integers(0, 2, 200)
    inputs = np.arange(200)
    judged = []

    def fit(seen, labels):
        np.testing.assert_array_equal(labels, gold[seen])

        def judge(new):
            assert not set(group[seen]) & set(group[new])
            judged.extend(new)
            return new / 200

        return judge

    np.testing.assert_array_equal(cross_fit(fit, inputs, gold, group, 4), inputs / 200)
    assert sorted(judged) == list(range(200))


def test_cross_fitted_temperature_repairs_an_overconfident_classifier():
    pytest.importorskip("sklearn")
    from fairseq_xl.pairs.evaluation.scores import log_losses
    from fairseq_xl.pairs.prediction.ensemble import calibration as by_name

    z, gold = simulated(2000, 1.0)
    found = cross_fit(by_name("temperature"), 4 * z, gold, np.arange(2000) // 2, 5)
    true = log_losses(gold, expit(z)).mean()
    assert log_losses(gold, found).mean() == pytest.approx(true, rel=0.01)
    assert log_losses(gold, expit(4 * z)).mean() > 1.5 * true


def test_impossible_folds():
    for folds in (1, 4):
        with pytest.raises(InputError, match="folds of 3 groups"):
            cross_fit(lambda x, y: None, np.zeros(6), np.zeros(6), np.arange(6) // 2, folds)


def test_calibrations_by_name():
    z, gold = simulated(100, 2.0)
    assert calibration.CALIBRATIONS["temperature"](z, gold) == (fit_temperature(z, gold), 0.0)
    assert calibration.CALIBRATIONS["platt"](z, gold) == fit_platt(z, gold)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"temperature": 0}, "the temperature is 0, which no calibration has"),
        *(
            ({name: value}, "something else than numbers")
            for name in ("temperature", "bias")
            for value in ("1", None, [])
        ),
        ({"bias": float("nan")}, "something else than numbers"),
        ({"prior": "x"}, "something else than numbers"),
        ({"prior": 1.0}, "a share of positives is not between 0 and 1"),
        ({"development_prior": -1}, "a share of positives is not between 0 and 1"),
    ],
)
def test_what_is_no_calibration(change, said, tmp_path):
    good = {"temperature": 1.5, "bias": 0.1, "development_prior": 0.4, "prior": None}
    path = tmp_path / "c.json"
    path.write_text(json.dumps(good))
    assert calibration.read_calibration(path) == calibration.Calibration(**good)
    path.write_text(json.dumps({**good, **change}))
    with pytest.raises(InputError, match=said):
        calibration.read_calibration(path)


def test_calibrated_for_another_share_of_matches():
    raw = np.array([-2.0, 0.0, 3.0])
    np.testing.assert_allclose(calibrated(raw, Calibration(2.0, 0.5, 0.4, None)), expit(raw / 2 + 0.5))
    odds = np.exp(raw / 2 + 0.5) * (0.1 / 0.9) / (0.4 / 0.6)
    np.testing.assert_allclose(calibrated(raw, Calibration(2.0, 0.5, 0.4, 0.1)), odds / (1 + odds))
