"""The vMF normaliser against mpmath, at its limits, and for smoothness."""

import json
import math
import runpy
from pathlib import Path

import mpmath
import pytest
import torch
from hypothesis import example, given, settings
from hypothesis import strategies as st

from fairseq_xl.losses.bessel import DEBYE_ORDER, mean_resultant_length, vmf_log_normalizer

ROOT = Path(__file__).resolve().parents[2]
exact = runpy.run_path(str(ROOT / "scripts" / "bessel_oracle.py"))["exact"]


def oracle(kappa: float, dim: int) -> tuple[float, float]:
    """(log C_d, A_d), computed with 60 digits."""
    return tuple(float(value) for value in exact(kappa, dim))


@pytest.mark.parametrize(("dim", "kappa"), [(2, 1e-12), (3, 2.5), (300, 0.5), (300, 800.0), (2, 1e5)])
def test_the_oracle_agrees_with_mpmaths_own_bessel_function(dim, kappa):
    with mpmath.workdps(60):
        k, v = mpmath.mpf(kappa), mpmath.mpf(dim) / 2 - 1
        bessel = mpmath.besseli(v, k)
        log_c = v * mpmath.log(k) - (v + 1) * mpmath.log(2 * mpmath.pi) - mpmath.log(bessel)
        found = exact(kappa, dim)
        assert abs(found[0] - log_c) < mpmath.mpf(10) ** -48
        assert abs(found[1] - mpmath.besseli(v + 1, k) / bessel) < mpmath.mpf(10) ** -48


def table() -> list[tuple[int, float, float, float]]:
    """d, κ, log C_d and A_d as scripts/bessel_oracle.py wrote them."""
    rows = json.loads((Path(__file__).parent / "bessel_oracle.json").read_text())["rows"]
    return [(dim, *map(float, row)) for dim, *row in rows]


def test_table_in_float64():
    for dim, kappa, log_c, a in table():
        k = torch.tensor(kappa, dtype=torch.float64)
        assert vmf_log_normalizer(k, dim).item() == pytest.approx(log_c, rel=1e-12, abs=1e-12), (dim, kappa)
        assert mean_resultant_length(k, dim).item() == pytest.approx(a, rel=1e-12), (dim, kappa)


def test_table_in_float32():
    for dim, kappa, log_c, a in table():
        k = torch.tensor(kappa, dtype=torch.float32)
        log_c -= a * (k.item() - kappa)  # at the κ that float32 can say
        assert vmf_log_normalizer(k, dim).item() == pytest.approx(log_c, rel=2e-6, abs=2e-6), (dim, kappa)
        assert mean_resultant_length(k, dim).item() == pytest.approx(a, rel=1e-5), (dim, kappa)


@settings(max_examples=60)
@given(st.integers(2, 32768), st.floats(-12, 6).map(lambda x: 10**x))
@example(2, 1e-30)
@example(300, 0.5)
@example(1024, 100.0)
@example(2 * DEBYE_ORDER + 1, 50.0)
@example(32768, 1000.0)
@example(32768, 1e6)
@example(2, 1e6)
def test_agrees_with_mpmath(dim, kappa):
    log_c, a = oracle(kappa, dim)
    k = torch.tensor(kappa, dtype=torch.float64)
    assert vmf_log_normalizer(k, dim).item() == pytest.approx(log_c, rel=1e-12, abs=1e-12)
    assert mean_resultant_length(k, dim).item() == pytest.approx(a, rel=1e-12)


@pytest.mark.parametrize("dim", [2, 3, 300, 1024, 32768])
def test_limits(dim):
    k = torch.tensor([0.0, 1e-30, 1e30], dtype=torch.float64, requires_grad=True)
    value = vmf_log_normalizer(k, dim)
    (slope,) = torch.autograd.grad(value.sum(), k, create_graph=True)
    (curvature,) = torch.autograd.grad(slope.sum(), k)
    log_area = math.log(2) + dim / 2 * math.log(math.pi) - math.lgamma(dim / 2)
    assert value[0].item() == pytest.approx(-log_area, rel=1e-13)
    assert slope.tolist() == pytest.approx([0.0, -1e-30 / dim, -1.0], rel=1e-12)
    assert curvature.tolist() == pytest.approx([-1 / dim, -1 / dim, -(dim - 1) / 2 * 1e-60], rel=1e-10)


def test_derivatives():
    k = torch.tensor([0.3, 5.0, 40.0, 300.0], dtype=torch.float64, requires_grad=True)
    for dim in (2, 7, 129, 300):
        assert torch.autograd.gradcheck(lambda x, d=dim: vmf_log_normalizer(x, d), k)
        assert torch.autograd.gradgradcheck(lambda x, d=dim: vmf_log_normalizer(x, d), k)


@pytest.mark.parametrize("dim", [2, 128, 129, 130, 300])
def test_no_kink_in_mean_resultant_length(dim):
    k = torch.linspace(0, 200, 4001, dtype=torch.float64)
    second = mean_resultant_length(k, dim).diff().diff() / (k[1] - k[0]) ** 2
    third = second.diff() / (k[1] - k[0])
    assert third.abs().max() < 0.5  # |A'''_d| ≤ 3/8 at its largest, d = 2 and κ = 0; a kink makes it 1/step


@settings(max_examples=40)
@given(st.integers(2, 400), st.floats(-2, 4).map(lambda x: 10**x))
@example(2 * DEBYE_ORDER + 1, 50.0)
@example(2 * DEBYE_ORDER + 2, 50.0)
def test_second_differences_are_those_of_the_function(dim, kappa):
    """A seam between two methods would stand out here, where both may agree to ten digits."""
    step = kappa / 100
    points = [kappa - step, kappa, kappa + step]
    ours = mean_resultant_length(torch.tensor(points, dtype=torch.float64), dim).diff().diff().item()
    lengths = [exact(kappa, dim)[1] for kappa in points]
    expected, size = float(lengths[0] - 2 * lengths[1] + lengths[2]), float(lengths[2])
    assert ours == pytest.approx(expected, abs=4e-15 * size)


def test_compiles_whole():
    k = torch.tensor([0.0, 0.3, 40.0, 1e5], dtype=torch.float64, requires_grad=True)

    def both(x):
        return vmf_log_normalizer(x, 300) + mean_resultant_length(x, 300)

    # Without generated C++: that this compiles and agrees, too, test_closed_form.py shows on the losses.
    torch._dynamo.mark_dynamic(k, 0)
    compiled = torch.compile(both, fullgraph=True, backend="aot_eager")
    assert torch.allclose(compiled(k), both(k), rtol=1e-12)
    slopes = [torch.autograd.grad(f(k).sum(), k)[0] for f in (compiled, both)]
    assert torch.allclose(*slopes, rtol=1e-12)


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32])
def test_keeps_dtype_and_computes_wide(dtype):
    k = torch.tensor([0.0, 1.0, 30.0], dtype=dtype)
    expected = vmf_log_normalizer(k.double(), 300)
    result = vmf_log_normalizer(k, 300)
    assert result.dtype == dtype
    assert torch.equal(result, expected.to(dtype))


def test_one_dimension_is_refused():
    with pytest.raises(ValueError, match="at least 2 dimensions, not 1"):
        vmf_log_normalizer(torch.ones(1), 1)


@settings(max_examples=60)
@given(st.integers(2, 32768), st.floats(-3, 5).map(lambda x: 10**x))
@example(300, 40.0)
@example(300, 2000.0)
def test_the_slope_of_the_resultant_length_is_that_of_its_differential_equation(dim, kappa):
    """A' = 1 − A² − (d − 1)A/κ, with 60 digits (Mardia & Jupp 2000, appendix 1)."""
    k = torch.tensor(kappa, dtype=torch.float64, requires_grad=True)
    (found,) = torch.autograd.grad(mean_resultant_length(k, dim), k)
    with mpmath.workdps(60):
        _, a = exact(kappa, dim)
        slope = 1 - a**2 - (dim - 1) * a / mpmath.mpf(kappa)
    assert found.item() == pytest.approx(float(slope), rel=1e-9)
