"""Losses against the papers' definitions, finite differences and closed forms."""

import pytest
import torch
import torch.nn.functional as F
from hypothesis import given
from hypothesis import strategies as st

from fairseq_xl.continuous.criteria import papers as criteria
from fairseq_xl.losses import losses, negatives
from fairseq_xl.losses.bessel import log_normalizer

LOSSES = {
    "vmf": losses.vmf,
    "vmf_regularised": lambda p, u: losses.vmf(p, u, 0.02, 0.1),
    "vmf_released": losses.vmf_released,
    "cosine": losses.cosine,
    "l2": losses.l2,
    "syn_margin_proj": lambda p, u: losses.syn_margin_proj(p, u, 0.5),
    "syn_margin_diff": lambda p, u: losses.syn_margin_diff(p, u, 0.5),
}
SYNTHETIC = {
    "proj": (losses.syn_margin_proj, negatives.projection),
    "diff": (losses.syn_margin_diff, negatives.difference),
}


def batch(n=12, d=6, seed=0):
    generator = torch.Generator().manual_seed(seed)
    pred = torch.randn(n, d, generator=generator, dtype=torch.float64)
    target = F.normalize(torch.randn(n, d, generator=generator, dtype=torch.float64), dim=-1)
    return pred.requires_grad_(), target


@pytest.mark.parametrize("name", ["vmf", "vmf_regularised", "vmf_released", "cosine", "l2"])
def test_gradients_by_finite_differences(name):
    pred, target = batch()
    assert torch.autograd.gradcheck(lambda p: LOSSES[name](p, target), pred)


@pytest.mark.parametrize("kind", SYNTHETIC)
def test_syn_margin_is_the_papers_hinge_with_a_constant_negative(kind):
    loss, negative_of = SYNTHETIC[kind]
    pred, target = batch()
    negative = negative_of(pred, target)  # fixed before differentiating: the paper's "detached"

    def paper(p):
        unit = p / p.norm(dim=-1, keepdim=True)
        return torch.relu(0.5 + (unit * negative).sum(-1) - (unit * target).sum(-1))

    assert torch.allclose(loss(pred, target, 0.5), paper(pred))
    ours, theirs = (torch.autograd.grad(f(pred).sum(), pred)[0] for f in (lambda p: loss(p, target, 0.5), paper))
    assert torch.allclose(ours, theirs, atol=1e-14)


@given(st.integers(2, 40), st.integers(0, 10**6), st.floats(0, 1.5))
def test_closed_forms(d, seed, margin):
    pred, target = batch(5, d, seed)
    c = F.cosine_similarity(pred, target, dim=-1)
    proj = torch.relu(margin + (1 - c**2).clamp_min(0).sqrt() - c)
    diff = torch.relu(margin + ((1 - c) / 2).clamp_min(0).sqrt() - c)
    assert torch.allclose(losses.syn_margin_proj(pred, target, margin), proj, atol=1e-7)
    assert torch.allclose(losses.syn_margin_diff(pred, target, margin), diff, atol=1e-7)
    assert torch.allclose(losses.cosine(pred, target), 1 - c)


@pytest.mark.parametrize(("loss", "cosine"), [("projection", 0.911), ("difference", 0.911), ("drawn", 0.75)])
def test_where_the_hinge_of_a_default_margin_ends(loss, cosine):
    """What makes margins comparable: one number asks different things of different negatives."""

    def value(c: float) -> float:
        pred = torch.tensor([[c, (1 - c * c) ** 0.5, 0.0]], dtype=torch.float64)
        target, across = torch.eye(3, dtype=torch.float64)[:1], torch.eye(3, dtype=torch.float64)[2:, None]
        return {
            "projection": lambda: losses.syn_margin_proj(pred, target, criteria.MarginConfig().margin),
            "difference": lambda: losses.syn_margin_diff(pred, target, criteria.DifferenceConfig().margin),
            "drawn": lambda: losses.margin(pred, target, across, criteria.NegativeSamplingConfig().margin),
        }[loss]().item()

    assert value(cosine - 0.001) > 0
    assert value(cosine + 0.001) == 0


def test_projection_repels_beyond_135_degrees_and_only_there():
    target = torch.tensor([[1.0, 0.0]], dtype=torch.float64)
    for degrees, attracts in ((100, True), (134, True), (136, False), (170, False)):
        angle = torch.deg2rad(torch.tensor(float(degrees), dtype=torch.float64)).requires_grad_()
        pred = torch.stack([angle.cos(), angle.sin()]).unsqueeze(0)
        (slope,) = torch.autograd.grad(losses.syn_margin_proj(pred, target, 0.5).sum(), angle)
        assert (slope > 0) == attracts, degrees


def test_vmf_is_the_negative_log_density():
    pred, target = batch()
    kappa = pred.norm(dim=-1)
    density = log_normalizer(kappa, 6) + (pred * target).sum(-1)
    assert torch.allclose(losses.vmf(pred, target), -density)
    regularised = -log_normalizer(kappa, 6) - 0.1 * (pred * target).sum(-1) + 0.02 * kappa
    assert torch.allclose(losses.vmf(pred, target, 0.02, 0.1), regularised)


def test_margin_averages_over_negatives():
    pred, target = batch()
    many = F.normalize(torch.randn(12, 4, 6, dtype=torch.float64), dim=-1)
    one_by_one = torch.stack([losses.margin(pred, target, many[:, i], 0.3) for i in range(4)])
    assert torch.allclose(losses.margin(pred, target, many, 0.3), one_by_one.mean(0))


@pytest.mark.parametrize("name", LOSSES)
def test_degenerate_predictions_have_finite_losses_and_gradients(name):
    target = F.normalize(torch.randn(4, 5), dim=-1)
    pred = torch.stack([torch.zeros(5), target[1], -target[2], target[3] * 1e-20]).requires_grad_()
    value = LOSSES[name](pred, target)
    (gradient,) = torch.autograd.grad(value.sum(), pred)
    assert value.shape == (4,)
    assert value.isfinite().all()
    assert gradient.isfinite().all()


@pytest.mark.parametrize("name", LOSSES)
def test_no_rows(name):
    pred = torch.zeros(0, 5, requires_grad=True)
    assert LOSSES[name](pred, torch.zeros(0, 5)).shape == (0,)


@pytest.mark.parametrize("name", LOSSES)
def test_half_precision_is_computed_in_float32(name):
    pred, target = batch()
    pred, target = pred.detach().bfloat16(), target.bfloat16()
    value = LOSSES[name](pred, target)
    assert value.dtype == torch.float32
    assert torch.allclose(value, LOSSES[name](pred.float(), target.float()))
