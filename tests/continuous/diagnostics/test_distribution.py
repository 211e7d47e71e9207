"""Numbers that pass by once against numpy on all of them."""

import json

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from fairseq_xl.continuous.diagnostics.distribution import FINE, QUANTILES, Distribution


def fed(values, parts, *args, **options):
    made = Distribution(*args, **options)
    for part in torch.tensor(values, dtype=torch.float64).tensor_split(parts):
        made.update(part)
    return made.result()


@given(st.lists(st.floats(-1, 1), min_size=1, max_size=60), st.integers(1, 7))
def test_moments_and_quantiles_do_not_depend_on_the_parts(values, parts):
    found = fed(values, parts, -1, 1)
    assert found["count"] == len(values)
    assert found["mean"] == pytest.approx(np.mean(values), abs=1e-12)
    assert found["std"] == pytest.approx(np.std(values), abs=1e-12)
    assert (found["min"], found["max"]) == (min(values), max(values))
    for share in QUANTILES:
        exact = np.quantile(values, share, method="inverted_cdf")
        assert found["quantiles"][str(share)] == pytest.approx(exact, abs=0.5 * 2 / (100 * FINE) + 1e-12)


@pytest.mark.parametrize(("log", "edges"), [(False, np.linspace(1, 100, 11)), (True, np.geomspace(1, 100, 11))])
def test_histogram_is_numpys(log, edges):
    values = np.random.default_rng(0).uniform(1, 100, 500)
    found = fed(values, 4, 1, 100, bins=10, log=log)["histogram"]
    assert found["counts"] == np.histogram(values, edges)[0].tolist()
    assert (found["low"], found["high"], found["scale"]) == (1, 100, "log" if log else "linear")


def test_quantiles_on_a_log_scale():
    values = np.random.default_rng(1).lognormal(3, 1, 4000)
    found = fed(values, 3, 1e-2, 1e5, bins=350, log=True)["quantiles"]
    for share in QUANTILES:
        exact = np.quantile(values, share, method="inverted_cdf")
        assert found[str(share)] == pytest.approx(exact, rel=(1e7 ** (1 / (350 * FINE)) - 1))


def test_numbers_outside_count_in_the_outermost_bins_and_as_they_are():
    found = fed([-5.0, 0.0, 1.0, 7.0], 2, 0, 1, bins=4)
    assert found["histogram"]["counts"] == [2, 0, 0, 2]
    assert (found["min"], found["max"], found["mean"]) == (-5, 7, 0.75)
    assert fed([0.0], 1, 1e-2, 1e5, bins=4, log=True)["histogram"]["counts"] == [1, 0, 0, 0]


def test_little_spread_far_from_zero_is_not_cancelled():
    values = 1e8 + np.random.default_rng(2).standard_normal(999)
    assert fed(values, 50, 0, 1)["std"] == pytest.approx(np.std(values), rel=1e-6)


def test_nothing_has_no_distribution():
    made = Distribution(-1, 1)
    made.update(torch.zeros(0))
    assert made.result() == {"count": 0}
    with pytest.raises(ValueError, match="no numbers"):
        made.quantile(0.5)


def test_the_result_is_plain_json():
    found = fed([0.25, 0.5], 1, -1, 1)
    assert json.loads(json.dumps(found, allow_nan=False)) == found
