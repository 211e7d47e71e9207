"""A loss that is not finite stops training with the update and the sentences."""

import pytest
import torch

from fairseq_xl.training import finite


@pytest.fixture(autouse=True)
def _idle_trainer():
    yield
    finite.training = finite._Training()


@pytest.mark.parametrize("value", [float("nan"), float("inf")])
def test_check_finite_names_update_and_sentences(value):
    sample = {"id": torch.arange(100, 130)}
    loss = torch.tensor([1.0, value])
    finite.training.update = 7
    with pytest.raises(finite.NonFiniteError, match=r"loss is not finite at update 7 .* 100, 101"):
        finite.check_finite(loss, sample)
    finite.training.update = 9
    with pytest.raises(finite.NonFiniteError, match=r"at update 9 .* 119 and 10 more"):
        finite.check_finite(loss, sample)
    finite.check_finite(torch.tensor([1.0, 2.0]), sample)


def test_check_finite_leaves_loss_scaling_alone():
    finite.training.scales_loss = True
    finite.check_finite(torch.tensor(float("inf")), {"id": torch.tensor([1])})
