"""Scores, intervals and tests of classifiers."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.stats
from hypothesis import given
from hypothesis import strategies as st

from fairseq_xl.report.classification import (
    bootstrap_differences,
    bootstrap_interval,
    class_scores,
    confusion,
    macro_f1,
    mcnemar,
)

sklearn = pytest.importorskip("sklearn.metrics")
LABELS = st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), min_size=1, max_size=60)


def test_confusion_has_the_truth_in_rows():
    assert confusion([0, 0, 1], [0, 1, 1], 2).tolist() == [[1, 1], [0, 1]]
    with pytest.raises(ValueError, match="1 predictions for 2 sentences"):
        confusion([0, 1], [0], 2)


@given(LABELS)
def test_scores_are_scikit_learns(pairs):
    gold, predicted = zip(*pairs, strict=True)
    found = class_scores(confusion(gold, predicted, 4))
    wanted = sklearn.precision_recall_fscore_support(gold, predicted, labels=range(4), zero_division=0)
    np.testing.assert_allclose([found.precision, found.recall, found.f1], wanted[:3])
    macro = sklearn.f1_score(gold, predicted, labels=range(4), average="macro", zero_division=0)
    assert found.macro[2] == pytest.approx(macro) == pytest.approx(macro_f1(confusion(gold, predicted, 4)))
    assert found.accuracy == pytest.approx(sklearn.accuracy_score(gold, predicted))


def test_the_interval_covers_and_narrows():
    random = np.random.default_rng(0)
    widths = []
    for size in (100, 1600):
        gold = random.integers(0, 2, size)
        predicted = np.where(random.random(size) < 0.8, gold, 1 - gold)
        low, high = bootstrap_interval(gold, [predicted], 2, samples=2000)
        assert low < macro_f1(confusion(gold, predicted, 2)) < high
        widths.append(high - low)
    assert widths[0] / widths[1] == pytest.approx(4, rel=0.3)
    # Of balanced classes that are right equally often, macro-F1 varies as accuracy does.
    assert widths[1] == pytest.approx(2 * scipy.stats.norm.ppf(0.975) * (0.8 * 0.2 / 1600) ** 0.5, rel=0.1)


def test_a_class_that_a_draw_lacks_is_no_mistake():
    gold = np.array([0] * 25 + [1] * 24 + [2])
    assert bootstrap_interval(gold, [gold], 3, 200) == (1.0, 1.0)


def test_the_interval_widens_with_the_spread_of_runs():
    gold = np.tile([0, 1], 200)
    good, bad = gold.copy(), gold.copy()
    bad[:100] = 1 - bad[:100]
    one = bootstrap_interval(gold, [good, good], 2, samples=200)
    two = bootstrap_interval(gold, [good, bad], 2, samples=200)
    assert one == (1, 1)
    assert two[1] - two[0] > 0.2


def test_differences_are_paired():
    random = np.random.default_rng(2)
    gold = random.integers(0, 2, 200)
    good = np.where(random.random(200) < 0.8, gold, 1 - gold)
    worse = good.copy()
    worse[:20] = 1 - gold[:20]  # the same but for these
    assert not bootstrap_differences(gold, [good], [good], 2, samples=50).any()
    draws = bootstrap_differences(gold, [good], [worse], 2, samples=400)
    gained = macro_f1(confusion(gold, good, 2)) - macro_f1(confusion(gold, worse, 2))
    assert draws.mean() == pytest.approx(gained, abs=0.01)
    alone = bootstrap_interval(gold, [good], 2, samples=400)
    assert np.subtract(*np.quantile(draws, (0.975, 0.025))) < alone[1] - alone[0]
    both = bootstrap_differences(gold, [good, worse], [worse, good], 2, samples=400)
    assert abs(both.mean()) < 0.01
    assert both.std() > draws.std()  # runs vary, too


def test_mcnemar():
    gold = [0] * 30
    first, second = [0] * 30, [0] * 20 + [1] * 10
    assert mcnemar(gold, first, second) == pytest.approx(2 * 0.5**10)
    assert mcnemar(gold, second, first) == mcnemar(gold, first, second)
    assert mcnemar(gold, first, first) == 1
    mixed = [0] * 5 + [1] * 12 + [0] * 13
    assert mcnemar(gold, second, mixed) == pytest.approx(scipy.stats.binomtest(10, 22).pvalue)
