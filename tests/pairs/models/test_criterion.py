"""The log loss and what is logged beside it."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from fairseq_xl.io.errors import InputError
from fairseq_xl.pairs.models.criterion import BINS, PairClassificationCriterion, average_precision
from fairseq_xl.training.finite import NonFiniteError

LOGITS, LABELS = [2.0, -1.0, 0.5, -3.0, 1.0], [1, 0, 0, 1, 1]


class Fixed(torch.nn.Module):
    def __init__(self, logits):
        super().__init__()
        self.logits = torch.tensor(logits)

    def forward(self):
        return self.logits


def logged(criterion, training: bool = False):
    sample = {"net_input": {}, "target": torch.tensor(LABELS), "id": torch.arange(5), "ntokens": 9, "nsentences": 5}
    return criterion(Fixed(LOGITS).train(training), sample)


def expected_rows():
    p = [1 / (1 + math.exp(-logit)) for logit in LOGITS]
    return [-math.log(q if label else 1 - q) for q, label in zip(p, LABELS, strict=True)]


def test_log_loss():
    loss, size, log = logged(PairClassificationCriterion(None))
    assert size == 5
    assert loss.item() == pytest.approx(sum(expected_rows()))
    assert log["log_loss"].item() == pytest.approx(sum(expected_rows()))


def test_weights_and_smoothing_leave_the_logged_log_loss_alone():
    loss, _, log = logged(PairClassificationCriterion(None, positive_weight=0.5))
    weighted = sum((0.5 if label else 1) * row for row, label in zip(expected_rows(), LABELS, strict=True))
    assert loss.item() == pytest.approx(weighted)
    assert log["log_loss"].item() == pytest.approx(sum(expected_rows()))
    loss, _, log = logged(PairClassificationCriterion(None, label_smoothing=0.1))
    # Moving a tenth of the label half-way costs 0.05 of the logit's size where it was right, and saves it elsewhere.
    moved = sum(0.05 * (logit if label else -logit) for logit, label in zip(LOGITS, LABELS, strict=True))
    assert loss.item() == pytest.approx(sum(expected_rows()) + moved)
    assert log["log_loss"].item() == pytest.approx(sum(expected_rows()))


def test_the_square_divides_the_gradient_and_not_what_is_logged():
    loss, size, log = logged(PairClassificationCriterion(None, divide_by_square=True))
    assert (size, log["sample_size"]) == (25, 5)
    assert loss.item() == pytest.approx(sum(expected_rows()))


def test_metrics_of_two_workers_are_those_of_all_pairs():
    from fairseq.logging import metrics

    criterion = PairClassificationCriterion(None)
    _, _, log = logged(criterion)
    with metrics.aggregate() as found:
        criterion.reduce_metrics([log, log])
    values = found.get_smoothed_values()
    assert values["log_loss"] == pytest.approx(sum(expected_rows()) / 5, abs=1e-4)
    # Found: the first and the last of three matching pairs, and one that does not match.
    assert (values["accuracy"], values["precision"], values["recall"]) == (60.0, 66.67, 66.67)
    assert values["f1"] == 66.67
    from sklearn.metrics import average_precision_score

    assert values["average_precision"] == round(100 * average_precision_score(LABELS, LOGITS), 2)
    assert criterion.logging_outputs_can_be_summed()


@given(st.lists(st.tuples(st.integers(0, BINS - 1), st.booleans()), min_size=1, max_size=60))
def test_average_precision_is_scikit_learn_s(pairs):
    from sklearn.metrics import average_precision_score

    if not any(match for _, match in pairs):
        return
    bins = np.zeros((2, BINS))
    for place, match in pairs:
        bins[int(match), place] += 1
    places, matches = zip(*pairs, strict=True)
    assert average_precision(bins) == pytest.approx(average_precision_score(matches, places))


@pytest.mark.parametrize(
    ("settings", "message"),
    [({"positive_weight": 0}, "--positive-weight is a number above 0"), ({"label_smoothing": 1}, "--label-smoothing")],
)
def test_bad_settings(settings, message):
    with pytest.raises(InputError, match=message):
        PairClassificationCriterion(None, **settings)


def test_no_labels_and_no_finite_loss():
    criterion = PairClassificationCriterion(None)
    with pytest.raises(InputError, match="have no labels"):
        criterion(Fixed([0.0]), {"net_input": {}})
    sample = {"net_input": {}, "target": torch.tensor([1]), "id": torch.tensor([7]), "ntokens": 1, "nsentences": 1}
    with pytest.raises(NonFiniteError, match="sentences 7"):
        criterion(Fixed([math.nan]).train(), sample)
