"""The vMF normaliser against mpmath, at its limits, and for smoothness."""

import math

import mpmath
import pytest
import torch
from hypothesis import example, given, settings
from hypothesis import strategies as st

from fairseq_xl.continuous.bessel import DEBYE_ORDER, log_normalizer, mean_resultant_length


def oracle(kappa: float, dim: int) -> tuple[float, float]:
    """(log C_d, A_d) with 50 digits."""
    with mpmath.workdps(50):
        k, v = mpmath.mpf(kappa), mpmath.mpf(dim) / 2 - 1
        bessel = mpmath.besseli(v, k, maxterms=10**6)
        log_c = v * mpmath.log(k) - (v + 1) * mpmath.log(2 * mpmath.pi) - mpmath.log(bessel)
        return float(log_c), float(mpmath.besseli(v + 1, k, maxterms=10**6) / bessel)


@settings(max_examples=30)
@given(st.integers(2, 4096), st.floats(-12, 2.7).map(lambda x: 10**x))
@example(2, 1e-30)
@example(300, 0.5)
@example(1024, 100.0)
@example(2 * DEBYE_ORDER + 1, 50.0)
@example(32768, 1000.0)
def test_agrees_with_mpmath(dim, kappa):
    log_c, a = oracle(kappa, dim)
    k = torch.tensor(kappa, dtype=torch.float64)
    assert log_normalizer(k, dim).item() == pytest.approx(log_c, rel=1e-12, abs=1e-12)
    assert mean_resultant_length(k, dim).item() == pytest.approx(a, rel=1e-12)


@pytest.mark.parametrize("dim", [2, 3, 300, 1024, 32768])
def test_limits(dim):
    k = torch.tensor([0.0, 1e-30, 1e30], dtype=torch.float64, requires_grad=True)
    value = log_normalizer(k, dim)
    (slope,) = torch.autograd.grad(value.sum(), k, create_graph=True)
    (curvature,) = torch.autograd.grad(slope.sum(), k)
    log_area = math.log(2) + dim / 2 * math.log(math.pi) - math.lgamma(dim / 2)
    assert value[0].item() == pytest.approx(-log_area, rel=1e-13)
    assert slope.tolist() == pytest.approx([0.0, -1e-30 / dim, -1.0], rel=1e-12)
    assert curvature.tolist() == pytest.approx([-1 / dim, -1 / dim, -(dim - 1) / 2 * 1e-60], rel=1e-10)


def test_derivatives():
    k = torch.tensor([0.3, 5.0, 40.0, 300.0], dtype=torch.float64, requires_grad=True)
    for dim in (2, 7, 129, 300):
        assert torch.autograd.gradcheck(lambda x, d=dim: log_normalizer(x, d), k)
        assert torch.autograd.gradgradcheck(lambda x, d=dim: log_normalizer(x, d), k)


@pytest.mark.parametrize("dim", [2, 128, 129, 130, 300])
def test_no_kink_in_mean_resultant_length(dim):
    k = torch.linspace(0, 200, 4001, dtype=torch.float64)
    second = mean_resultant_length(k, dim).diff().diff() / (k[1] - k[0]) ** 2
    third = second.diff() / (k[1] - k[0])
    assert third.abs().max() < 0.5  # |A'''_d| ≤ 3/8 at its largest, d = 2 and κ = 0; a kink makes it 1/step


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32])
def test_keeps_dtype_and_computes_wide(dtype):
    k = torch.tensor([0.0, 1.0, 30.0], dtype=dtype)
    expected = log_normalizer(k.double(), 300)
    result = log_normalizer(k, 300)
    assert result.dtype == dtype
    assert torch.equal(result, expected.to(dtype))


def test_one_dimension_is_refused():
    with pytest.raises(ValueError, match="at least 2 dimensions, not 1"):
        log_normalizer(torch.ones(1), 1)
