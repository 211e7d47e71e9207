"""The power spherical likelihood against its integral, mpmath and finite differences."""

import math

import mpmath
import pytest
import scipy.integrate
import torch
import torch.nn.functional as F

from fairseq_xl.losses.power_spherical import OPPOSITE, power_spherical, power_spherical_log_normalizer

from .conftest import batch

KAPPAS = [0.0, 1e-12, 1e-3, 1.0, 37.5, 1e3, 1e6]


@pytest.mark.parametrize("kappa", [0.0, 0.3, 4.0, 80.0])
@pytest.mark.parametrize("dim", [2, 3, 4, 9])
def test_the_density_integrates_to_one(dim, kappa):
    """Over rings at an angle to the mean direction, which are spheres of one dimension fewer."""
    ring = 2 * math.pi ** ((dim - 1) / 2) / math.gamma((dim - 1) / 2)
    mean = torch.zeros(1, dim, dtype=torch.float64)
    mean[0, 0] = kappa

    def density_of_rings(angle):
        point = torch.zeros(1, dim, dtype=torch.float64)
        point[0, 0], point[0, 1] = math.cos(angle), math.sin(angle)
        return math.exp(-power_spherical(mean, point)) * ring * math.sin(angle) ** (dim - 2)

    total, _ = scipy.integrate.quad(density_of_rings, 0, math.pi, epsabs=1e-10)
    if kappa == 0:  # a zero prediction has no direction: every target is as likely
        assert density_of_rings(1.0) / math.sin(1.0) ** (dim - 2) == pytest.approx(
            ring * math.gamma(dim / 2) / (2 * math.pi ** (dim / 2))
        )
    # near the opposite point, which on a circle is a good part of it, the density is held up by OPPOSITE
    assert total == pytest.approx(1, abs=1e-8 if dim > 2 else 1e-5)


@pytest.mark.parametrize("dim", [2, 3, 300, 4096])
def test_the_normaliser_and_its_slope_to_twelve_digits(dim):
    kappa = torch.tensor(KAPPAS, dtype=torch.float64, requires_grad=True)
    value = power_spherical_log_normalizer(kappa, dim)
    (slope,) = torch.autograd.grad(value.sum(), kappa)
    with mpmath.workdps(50):
        for i, k in enumerate(KAPPAS):
            beta = mpmath.mpf(dim - 1) / 2
            alpha = beta + mpmath.mpf(k)
            exact = mpmath.loggamma(alpha + beta) - mpmath.loggamma(alpha)
            exact -= (alpha + beta) * mpmath.log(2) + beta * mpmath.log(mpmath.pi)
            tilt = mpmath.digamma(alpha + beta) - mpmath.digamma(alpha) - mpmath.log(2)
            assert value[i].item() == pytest.approx(float(exact), rel=1e-12)
            assert slope[i].item() == pytest.approx(float(tilt), rel=1e-12, abs=1e-14)


@pytest.mark.parametrize("dim", [3, 300])
@pytest.mark.parametrize("kappa", [0.01, 30.0, 1e6])
def test_narrow_predictions_are_computed_in_float64(dim, kappa):
    """At κ = 1e6 the loss is what is left of two terms of that size."""
    pred, target = batch(d=dim, scale=3, dtype=torch.float32)
    pred = (kappa * F.normalize(target + 1e-3 * pred, dim=-1)).detach().requires_grad_()
    exact = pred.detach().double().requires_grad_()
    narrow, wide = power_spherical(pred, target), power_spherical(exact, target.double())
    assert narrow.dtype == torch.float32
    assert torch.equal(narrow, wide.float())
    narrow.sum().backward()
    wide.sum().backward()
    assert torch.allclose(pred.grad, exact.grad.float(), rtol=1e-6)


def test_half_precision_is_answered_in_float32():
    pred, target = batch(scale=3, dtype=torch.bfloat16)
    value = power_spherical(pred, target)
    assert value.dtype == torch.float32
    assert torch.equal(value, power_spherical(pred.float(), target.float(), "trust"))


@pytest.mark.parametrize("dim", [2, 5, 15])
def test_gradients_by_finite_differences(dim):
    pred, target = batch(d=dim, scale=3)
    assert torch.autograd.gradcheck(lambda p: power_spherical(p, target), pred)
    assert torch.autograd.gradgradcheck(lambda p: power_spherical(p, target), pred)


def test_a_confident_right_prediction_is_likelier():
    _, target = batch(scale=3)
    right, sure, wrong = (power_spherical(k * target, target) for k in (1.0, 9.0, -9.0))
    assert (sure < right).all()
    assert (right < wrong).all()


def test_an_opposite_prediction_is_made_shorter_and_no_more():
    target = torch.tensor([[1.0, 0.0, 0.0]], dtype=torch.float64)
    pred = (-4 * target).requires_grad_()
    value = power_spherical(pred, target)
    expected = -power_spherical_log_normalizer(torch.tensor([4.0]), 3) - 4 * math.log(OPPOSITE)
    assert torch.allclose(value, expected)
    (gradient,) = torch.autograd.grad(value.sum(), pred)
    shorter = (value - power_spherical(-(4 - 1e-6) * target, target)) / 1e-6
    assert torch.allclose(gradient, -target * shorter.detach(), rtol=1e-4)
    assert shorter > 0


def test_degenerate_predictions_have_finite_losses_and_gradients():
    target = F.normalize(torch.randn(5, 6, generator=torch.Generator().manual_seed(1)), dim=-1)
    rows = [torch.zeros(6), target[1], -target[2], target[3] * 1e-30, -target[4] * 1e6]
    pred = torch.stack(rows).requires_grad_()
    value = power_spherical(pred, target)
    value.sum().backward()
    assert value.isfinite().all()
    assert pred.grad.isfinite().all()
    assert (pred.grad[0] == 0).all()


def test_no_rows_and_too_few_dimensions():
    assert power_spherical(torch.zeros(0, 5), torch.zeros(0, 5)).shape == (0,)
    with pytest.raises(ValueError, match="at least 2 dimensions, not 1"):
        power_spherical(torch.ones(2, 1), torch.ones(2, 1))
