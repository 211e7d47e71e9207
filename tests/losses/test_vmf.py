"""The von Mises-Fisher losses against the density."""

import torch
import torch.nn.functional as F

from fairseq_xl.losses import vmf, vmf_log_normalizer, vmf_released

from .conftest import batch


def test_vmf_is_the_negative_log_density():
    pred, target = batch()
    kappa, dot = pred.norm(dim=-1), (pred * target).sum(-1)
    assert torch.allclose(vmf(pred, target), -(vmf_log_normalizer(kappa, 6) + dot))
    regularised = -vmf_log_normalizer(kappa, 6) - 0.1 * dot + 0.02 * kappa
    assert torch.allclose(vmf(pred, target, 0.02, 0.1), regularised)


def test_the_released_form_weighs_the_cosine_by_the_norm():
    pred, target = batch()
    kappa = pred.norm(dim=-1)
    pull = torch.log1p(kappa) * (0.2 - F.cosine_similarity(pred, target, dim=-1))
    assert torch.allclose(vmf_released(pred, target), pull - vmf_log_normalizer(kappa, 6))
