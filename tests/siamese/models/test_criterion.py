"""The loss of a batch's pairs, and macro-F1 of sentences among references."""

from __future__ import annotations

from typing import Any

import pytest
import torch
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


def test_the_sum_over_pairs_and_their_number() -> None:
    """Cosines 0.6 of one class, and 0.8 and 0 of two: a distance of 0.4, and 0.3 and nothing above the margin."""
    left, right, same = torch.tensor([0, 1, 0]), torch.tensor([1, 2, 2]), torch.tensor([True, False, False])
    batch = sample([[2.0, 0.0], [0.6, 0.8], [0.0, 3.0]], [0, 0, 1], left=left, right=right, same=same)
    loss, size, log = ContrastiveCriterion(None, margin=0.5)(Fixed().eval(), batch)
    assert size == 3
    assert loss.item() == pytest.approx(0.4 + 0.3)
    assert (log["cosine_same"].item(), log["cosine_other"].item()) == pytest.approx((0.6, 0.8))


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
