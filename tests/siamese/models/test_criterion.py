"""The loss of a batch's pairs, and macro-F1 of sentences among references."""

from __future__ import annotations

import math
from typing import Any

import pytest
import torch
import torch.nn.functional as F
from fairseq.logging import metrics

from fairseq_xl.io.errors import InputError
from fairseq_xl.siamese.models.criterion import ContrastiveCriterion


class Fixed(torch.nn.Module):
    """Gives the vectors that it is given."""

    def forward(self, vectors: torch.Tensor) -> torch.Tensor:
        return vectors


def sample(vectors: list[list[float]], target: list[int], **more: Any) -> dict[str, Any]:
    """A batch of sentences with these vectors and classes."""
    net_input = {"vectors": torch.tensor(vectors)}
    return {"net_input": net_input, "target": torch.tensor(target), "ntokens": 9, "nsentences": len(target), **more}


def three_pairs() -> dict[str, Any]:
    """Cosines 0.6 of one class, and 0.8 and 0 of two."""
    left, right, same = torch.tensor([0, 1, 0]), torch.tensor([1, 2, 2]), torch.tensor([True, False, False])
    return sample([[2.0, 0.0], [0.6, 0.8], [0.0, 3.0]], [0, 0, 1], left=left, right=right, same=same)


def test_the_sum_over_pairs_and_their_number() -> None:
    """A distance of 0.4, and 0.3 and nothing above the margin."""
    loss, size, log = ContrastiveCriterion(None, margin=0.5)(Fixed().eval(), three_pairs())
    assert size == 3
    assert loss.item() == pytest.approx(0.4 + 0.3)
    with metrics.aggregate() as found:
        ContrastiveCriterion.reduce_metrics([log])
    values = found.get_smoothed_values()
    assert (values["cosine_same"], values["cosine_other"]) == pytest.approx((0.6, 0.4))


def test_the_class_head_reads_vectors_of_any_length() -> None:
    model, batch = Fixed().eval(), three_pairs()
    model.head = torch.nn.Linear(2, 2)
    without = ContrastiveCriterion(None, margin=0.5)(model, batch)[0]
    both = ContrastiveCriterion(None, margin=0.5, class_weight=0.3)(model, batch)[0]
    wanted = 3 * 0.3 * F.cross_entropy(model.head(batch["net_input"]["vectors"]), batch["target"])
    assert (both - without).item() == pytest.approx(wanted.item(), rel=1e-5)


@pytest.mark.parametrize(("threshold", "chosen"), [(0.5, 0), (0.7, 1)])
def test_validation_by_a_threshold_and_the_mean_over_references(threshold: float, chosen: int) -> None:
    cosines = (0.6, 0.6, 1.0, -1.0)
    references = {
        "vectors": torch.tensor([[cosine, math.sqrt(1 - cosine * cosine)] for cosine in cosines]),
        "labels": torch.tensor([0, 0, 1, 1]),
        "classes": 2,
        "rule": "matches",
        "threshold": threshold,
    }
    batch = sample([[1.0, 0.0]], [0], references=references)
    loss, _, log = ContrastiveCriterion(None, margin=0.5)(Fixed().eval(), batch)
    assert log["confusion"].view(2, 2)[0, chosen] == 1
    assert loss.item() == pytest.approx((0.4 + 0.4 + 0.5 + 0) / 4)


def test_metrics_of_two_workers_are_those_of_all_sentences() -> None:
    """Of three sentences of class 0 one is taken for class 1, whose only sentence is found."""
    references = {
        "vectors": torch.eye(2),
        "labels": torch.tensor([0, 1]),
        "classes": 2,
        "rule": "mean",
        "threshold": 0.5,
    }
    criterion = ContrastiveCriterion(None, margin=0.5)
    batches = [
        sample([[1.0, 0.1], [0.1, 1.0]], [0, 0], references=references),
        sample([[1.0, 0.2], [0.2, 1.0]], [0, 1], references=references),
    ]
    logs = [criterion(Fixed().eval(), batch)[2] for batch in batches]
    with metrics.aggregate() as found:
        criterion.reduce_metrics(logs)
    values = found.get_smoothed_values()
    assert values["accuracy"] == pytest.approx(75)
    assert values["macro_f1"] == pytest.approx(100 * (4 / 5 + 2 / 3) / 2)


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"margin": 1.5}, "--margin is a cosine from 0 to 1"),
        ({"margin": 0.5, "class_weight": -1.0}, "--class-weight is a number from 0"),
    ],
)
def test_settings_that_make_no_sense(settings: dict[str, float], said: str) -> None:
    with pytest.raises(InputError, match=said):
        ContrastiveCriterion(None, **settings)
