"""A bootstrap of few runs spreads as much as their mean does."""

import numpy as np
import pytest

from fairseq_xl.report.bootstrap import drawn_runs


@pytest.mark.parametrize("count", [2, 3, 5])
def test_the_variance_of_a_drawn_mean_is_that_of_the_mean(count):
    random = np.random.default_rng(1)
    values = random.normal(size=count)
    means = [values[drawn_runs(random, count)].mean() for _ in range(20_000)]
    assert np.var(means) == pytest.approx(values.var(ddof=1) / count, rel=0.05)


def test_one_run_is_taken_as_it_is():
    assert drawn_runs(np.random.default_rng(1), 1).tolist() == [0]
