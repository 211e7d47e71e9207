"""Closed-form gradients against the papers' losses written naively, and compiled kernels against plain ones."""

import shutil

import pytest
import torch
import torch.nn.functional as F
from hypothesis import given
from hypothesis import strategies as st

from fairseq_xl.losses import Cosine, SynMarginDiff, SynMarginProj, Vmf, VmfReleased, vmf_log_normalizer

LOSSES = (Cosine(), SynMarginProj(0.5), SynMarginDiff(0.5), Vmf(), Vmf(0.02, 0.1), VmfReleased())
EACH = pytest.mark.parametrize("loss", LOSSES, ids=repr)


def naive(loss, pred, target):
    """The losses as the papers write them, negatives held constant, differentiated by autograd."""
    kappa = pred.norm(dim=-1)
    unit = pred / kappa.unsqueeze(-1)
    cosine = (unit * target).sum(-1)
    match loss:
        case Cosine():
            return 1 - cosine
        case Vmf(lambda1, lambda2):
            density = vmf_log_normalizer(kappa, pred.shape[-1])
            return -density - lambda2 * (pred * target).sum(-1) + lambda1 * kappa
        case VmfReleased():
            return -vmf_log_normalizer(kappa, pred.shape[-1]) + torch.log1p(kappa) * (0.2 - cosine)
        case SynMarginDiff() | SynMarginProj():
            with torch.no_grad():
                away = unit - (target if isinstance(loss, SynMarginDiff) else cosine.unsqueeze(-1) * target)
                negative = F.normalize(away, dim=-1)
            return F.relu(loss.margin + (unit * negative).sum(-1) - cosine)


def problem(n=40, d=16, vocabulary=30, seed=0, dtype=torch.float64):
    generator = torch.Generator().manual_seed(seed)
    table = F.normalize(torch.randn(vocabulary, d, generator=generator, dtype=torch.float64), dim=-1)
    index = torch.randint(vocabulary, (n,), generator=generator)
    # Every angle to the target occurs: inactive hinges, the usual ones, and those beyond 135°
    toward = torch.linspace(-4, 4, n, dtype=torch.float64).unsqueeze(-1) * table[index]
    pred = toward + torch.randn(n, d, generator=generator, dtype=torch.float64)
    weights = torch.rand(n, generator=generator, dtype=torch.float64)
    return pred.to(dtype).requires_grad_(), table.to(dtype), index, weights.to(dtype)


def value_and_gradient(loss, pred, weights):
    return loss.detach(), torch.autograd.grad((loss * weights).sum(), pred)[0]


@EACH
@given(d=st.integers(2, 60), seed=st.integers(0, 10**6))
def test_agrees_with_the_definition_in_float64(loss, d, seed):
    pred, table, index, weights = problem(d=d, seed=seed)
    ours = loss.rows(pred, table[index]).loss
    theirs = naive(loss, pred, table[index])
    for a, b in zip(value_and_gradient(ours, pred, weights), value_and_gradient(theirs, pred, weights), strict=True):
        assert torch.allclose(a, b, rtol=1e-9, atol=1e-10)


@EACH
@pytest.mark.parametrize(("dtype", "tolerance"), [(torch.float32, 1e-5), (torch.bfloat16, 1e-2)])
def test_narrow_predictions(loss, dtype, tolerance):
    pred, table, index, weights = problem(n=200, d=300, dtype=dtype)
    found = loss.rows(pred, table, index).loss
    assert found.dtype == torch.float32
    value, gradient = value_and_gradient(found, pred, weights.float())
    assert gradient.dtype == dtype
    exact = pred.detach().double().requires_grad_()
    exact_loss = naive(loss, exact, table[index].double())
    expected, slope = value_and_gradient(exact_loss, exact, weights.double())
    assert torch.allclose(value.double(), expected, rtol=tolerance, atol=tolerance)
    error = (gradient.double() - slope).norm(dim=-1)
    assert (error <= tolerance * slope.norm(dim=-1).clamp_min(1e-3)).all()


@EACH
def test_rows_of_the_table_are_the_targets(loss):
    pred, table, index, weights = problem()
    direct = loss.rows(pred, table[index])
    gathered = loss.rows(pred, table, index)
    for a, b in zip(direct, gathered, strict=True):
        assert torch.equal(a, b)
    for a, b in zip(
        value_and_gradient(direct.loss, pred, weights), value_and_gradient(gathered.loss, pred, weights), strict=True
    ):
        assert torch.equal(a, b)


@EACH
def test_angle_and_length_come_without_gradient(loss):
    pred, table, index, _ = problem()
    _, cosine, kappa = loss.rows(pred, table, index)
    assert not cosine.requires_grad
    assert not kappa.requires_grad
    assert torch.allclose(cosine, F.cosine_similarity(pred, table[index], dim=-1))
    assert torch.allclose(kappa, pred.norm(dim=-1))


@EACH
def test_nothing_as_large_as_the_predictions_is_kept_but_the_predictions(loss):
    pred, table, index, _ = problem(vocabulary=50)
    kept = []
    with torch.autograd.graph.saved_tensors_hooks(lambda x: kept.append(x) or x, lambda x: x):
        loss.rows(pred, table, index)
    large = [x for x in kept if x.numel() >= pred.numel()]
    assert len(large) == 2
    assert large[0].data_ptr() == pred.data_ptr()
    assert large[1].data_ptr() == table.data_ptr()


@pytest.mark.parametrize("kind", [SynMarginProj, SynMarginDiff])
@pytest.mark.parametrize("sign", [1, -1])
@pytest.mark.parametrize("angle", [1e-3, 1e-4])
def test_next_to_parallel_and_antiparallel(kind, sign, angle):
    """There 1 − c² has no digits left in float32; the difference vector has some."""
    target = F.normalize(torch.randn(8, 300, generator=torch.Generator().manual_seed(1)).double(), dim=-1)
    away = torch.randn(8, 300, generator=torch.Generator().manual_seed(2)).double()
    away = F.normalize(away - (away * target).sum(-1, keepdim=True) * target, dim=-1)
    unit = (sign * target + angle * away).float()
    pred = unit.clone().requires_grad_()
    loss = kind(2.0)  # a margin that keeps every hinge active
    _, gradient = value_and_gradient(loss.rows(pred, target.float()).loss, pred, torch.ones(8))
    exact = unit.double().requires_grad_()
    _, expected = value_and_gradient(naive(loss, exact, target.float().double()), exact, torch.ones(8).double())
    assert ((gradient - expected).norm(dim=-1) <= 5e-7 / angle * expected.norm(dim=-1)).all()


def test_targets_that_want_a_gradient_are_refused():
    pred, table, _, _ = problem(n=30)
    with pytest.raises(ValueError, match="frozen"):
        Cosine().rows(pred, table.requires_grad_())


def test_an_unknown_setting_is_refused(monkeypatch):
    pred, table, index, _ = problem()
    monkeypatch.setenv("FAIRSEQ_XL_KERNELS", "fast")
    with pytest.raises(ValueError, match="FAIRSEQ_XL_KERNELS is 'fast'"):
        Cosine().rows(pred, table, index)


@pytest.mark.slow
@pytest.mark.skipif(not shutil.which("g++"), reason="torch.compile needs a C++ compiler on a CPU")
@pytest.mark.parametrize("loss", [SynMarginProj(0.5), Vmf(0.02, 0.1)], ids=repr)  # a compilation each takes its time
def test_compiled_kernels_agree_with_plain_ones(loss, monkeypatch):
    for n in (40, 57):  # the number of rows may change without compiling again
        pred, table, index, weights = problem(n=n, d=32, dtype=torch.float32)
        found = {}
        for setting in ("plain", "compiled"):
            monkeypatch.setenv("FAIRSEQ_XL_KERNELS", setting)
            found[setting] = value_and_gradient(loss.rows(pred, table, index).loss, pred, weights)
        for a, b in zip(*found.values(), strict=True):
            assert torch.allclose(a, b, rtol=1e-5, atol=1e-6)
