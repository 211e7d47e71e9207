"""--criterion vmf: which loss each form is."""

from __future__ import annotations

import pytest
import torch
import torch.nn.functional as F

from fairseq_xl.continuous.criteria.vmf import Vmf
from fairseq_xl.io.errors import InputError
from fairseq_xl.losses import VmfLoss, VmfReleasedLoss


@pytest.mark.parametrize(("form", "loss"), [("paper", VmfLoss(0.3, 0.7)), ("released", VmfReleasedLoss())])
def test_a_form_is_its_loss_and_the_paper_s_has_the_weights(form: str, loss: torch.nn.Module) -> None:
    draw = torch.Generator().manual_seed(0)
    pred, target = torch.randn(3, 8, generator=draw), F.normalize(torch.randn(3, 8, generator=draw), dim=-1)
    weights = (0.3, 0.7) if form == "paper" else (0.02, 0.1)
    criterion = Vmf(None, False, form, *weights)
    assert type(criterion.loss) is type(loss)
    assert torch.equal(criterion.loss(pred, target), loss(pred, target))


def test_the_released_form_takes_no_weights() -> None:
    with pytest.raises(InputError, match="--form released has no weights"):
        Vmf(None, False, "released", 0.3, 0.1)
