"""The margin losses with a synthetic negative against the paper's definition and closed forms."""

import pytest
import torch
import torch.nn.functional as F
from hypothesis import given
from hypothesis import strategies as st

from fairseq_xl.losses import (
    NegativeSamplingLoss,
    SynMarginDiffLoss,
    SynMarginProjLoss,
    difference,
    margin,
    projection,
    syn_margin_diff,
    syn_margin_proj,
)

from .conftest import batch

SYNTHETIC = {"proj": (syn_margin_proj, projection), "diff": (syn_margin_diff, difference)}


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
def test_closed_forms(d, seed, by):
    pred, target = batch(5, d, seed)
    c = F.cosine_similarity(pred, target, dim=-1)
    proj = torch.relu(by + (1 - c**2).clamp_min(0).sqrt() - c)
    diff = torch.relu(by + ((1 - c) / 2).clamp_min(0).sqrt() - c)
    assert torch.allclose(syn_margin_proj(pred, target, by), proj, atol=1e-7)
    assert torch.allclose(syn_margin_diff(pred, target, by), diff, atol=1e-7)


@pytest.mark.parametrize(("loss", "cosine"), [("projection", 0.911), ("difference", 0.911), ("sampled", 0.75)])
def test_where_the_hinge_of_a_default_margin_ends(loss, cosine):
    """What makes margins comparable: one number asks different things of different negatives."""

    def value(c: float) -> float:
        pred = torch.tensor([[c, (1 - c * c) ** 0.5, 0.0]], dtype=torch.float64)
        target, across = torch.eye(3, dtype=torch.float64)[:1], torch.eye(3, dtype=torch.float64)[2:, None]
        return {
            "projection": lambda: SynMarginProjLoss()(pred, target),
            "difference": lambda: SynMarginDiffLoss()(pred, target),
            "sampled": lambda: margin(pred, target, across, NegativeSamplingLoss().margin),
        }[loss]().item()

    assert value(cosine - 0.001) > 0
    assert value(cosine + 0.001) == 0


def test_projection_repels_beyond_135_degrees_and_only_there():
    target = torch.tensor([[1.0, 0.0]], dtype=torch.float64)
    for degrees, attracts in ((100, True), (134, True), (136, False), (170, False)):
        angle = torch.deg2rad(torch.tensor(float(degrees), dtype=torch.float64)).requires_grad_()
        pred = torch.stack([angle.cos(), angle.sin()]).unsqueeze(0)
        (slope,) = torch.autograd.grad(syn_margin_proj(pred, target).sum(), angle)
        assert (slope > 0) == attracts, degrees
