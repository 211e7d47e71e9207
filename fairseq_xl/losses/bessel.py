r"""The normaliser of the von Mises-Fisher density and its derivative, in torch alone.

The density on the unit sphere in d dimensions is C_d(κ) exp(κ μᵀx) with

    C_d(κ) = κ^v / ((2π)^{d/2} I_v(κ)),   v = d/2 − 1,

and −d/dκ log C_d(κ) = A_d(κ) = I_{v+1}(κ) / I_v(κ), the mean resultant length (Banerjee et al. 2005; Kumar &
Tsvetkov 2019, equation 1). In a few hundred dimensions I_v(κ) underflows for the small κ where a fresh model
starts, so nothing here ever forms I_v itself. With

    l_n(κ) = log I_n(κ) − n log κ,     r_n(κ) = I_{n+1}(κ) / (κ I_n(κ)),

both finite and smooth down to κ = 0, everything follows from one order n ≥ 64:

* at order n, Debye's expansion uniform in κ (DLMF 10.41.3 and 10.41.5), ten correction terms: full double
  precision for n ≥ 64;
* below it, Gauss's continued fraction evaluated backwards, r_{n−1} = 1 / (2n + κ² r_n), which only damps
  errors, and l_{n−1} = l_n − log r_{n−1}.

One method for every κ, so there is no seam at which a derivative could jump.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import torch
from torch import Tensor

#: Orders from here on are accurate by Debye's expansion alone.
DEBYE_ORDER = 64
DEBYE_TERMS = 10


def _debye_polynomials() -> tuple[tuple[tuple[float, ...], ...], tuple[tuple[float, ...], ...]]:
    """Coefficients, constant first, of U_k(t) (k ≤ terms) and of ½U_k(t) + t U'_k(t) (k < terms).

    DLMF 10.41.9: U_{k+1}(t) = ½ t²(1−t²) U'_k(t) + ⅛ ∫₀ᵗ (1−5s²) U_k(s) ds; and 10.41.10 gives
    V_{k+1} − U_{k+1} = −t(1−t²)(½U_k + tU'_k), the second family here.
    """
    u: list[list[Fraction]] = [[Fraction(1)]]
    for _ in range(DEBYE_TERMS):
        last = u[-1]
        following = [Fraction(0)] * (len(last) + 3)
        for power, c in enumerate(last):
            following[power + 1] += Fraction(power, 2) * c + Fraction(1, 8 * (power + 1)) * c
            following[power + 3] -= Fraction(power, 2) * c + Fraction(5, 8 * (power + 3)) * c
        u.append(following)
    w = [[(Fraction(1, 2) + power) * c for power, c in enumerate(p)] for p in u[:-1]]
    return (tuple(tuple(float(c) for c in p) for p in u), tuple(tuple(float(c) for c in p) for p in w))


_U, _W = _debye_polynomials()


def _sum_debye(n: float) -> tuple[tuple[float, ...], tuple[float, ...]]:
    sum_u = [0.0] * len(_U[-1])
    sum_w = [0.0] * len(_W[-1])
    for total, family, first in ((sum_u, _U, 0), (sum_w, _W, 1)):
        # Smallest terms first, so that they are not lost to rounding.
        for k in reversed(range(len(family))):
            for power, c in enumerate(family[k]):
                total[power] += c / n ** (k + first)
    return tuple(sum_u), tuple(sum_w)


_SUMS: dict[float, tuple[tuple[float, ...], tuple[float, ...]]] = {}


def _debye_sums(n: float) -> tuple[tuple[float, ...], tuple[float, ...]]:
    """Σ U_k(t)/n^k and Σ (½U_{k−1} + t U'_{k−1})(t)/n^k as one polynomial in t each: n never is a tensor."""
    if n not in _SUMS:
        _SUMS[n] = _sum_debye(n)
    return _SUMS[n]


def prepare(dim: int) -> None:
    """Compute the coefficients for a dimension, which ``torch.compile`` else traces addition by addition."""
    _debye_sums(_steps_and_order(dim)[1])


def _polynomial(coefficients: tuple[float, ...], t: Tensor) -> Tensor:
    value = torch.full_like(t, coefficients[-1])
    for c in reversed(coefficients[:-1]):
        value = value * t + c
    return value


def _debye(kappa: Tensor, n: float) -> tuple[Tensor, Tensor]:
    """(l_n, r_n) at an order n ≥ DEBYE_ORDER; ``kappa`` float64."""
    sum_u, sum_w = _debye_sums(n)
    root = torch.hypot(kappa, torch.full_like(kappa, n))  # √(n² + κ²), no overflow at 1e300
    t = n / root
    u = _polynomial(sum_u, t)
    log_i = root - n * torch.log(n + root) - 0.5 * torch.log(2 * math.pi * root) + u.log()
    # r_n = (I'_n/I_n − n/κ)/κ with the part that cancels as κ → 0 taken out by hand (1 − t² = κ²/root²).
    ratio = 1 / (n + root) - (t / root) * (_polynomial(sum_w, t) / u)
    return log_i, ratio


def log_bessel_and_ratio(kappa: Tensor, dim: int) -> tuple[Tensor, Tensor]:
    """(l_v, r_v) for v = dim/2 − 1 ≥ 0; ``kappa`` float64, non-negative.

    −log C_d = (d/2) log 2π + l_v and A_d = κ r_v: all that a vMF loss and its gradient need.
    """
    steps, order = _steps_and_order(dim)
    log_i, ratio = _debye(kappa, order)
    for n in range(int(steps), 0, -1):
        ratio = 1 / (2 * (order - steps + n) + kappa * (kappa * ratio))
        log_i = log_i - ratio.log()
    return log_i, ratio


def _resultant_slope(kappa: Tensor, dim: int) -> Tensor:
    """A'_d(κ), float64.

    Not as 1 − A² − (d−1)A/κ, whose terms cancel: of the true (d−1)/(2κ²) nothing is left by κ = 1e8. Debye's
    expansion is differentiated instead, and Gauss's fraction carries the slope down as it carries the ratio.
    """
    steps, order = _steps_and_order(dim)
    sum_u, sum_w = _debye_sums(order)
    root = torch.hypot(kappa, torch.full_like(kappa, order))
    t = order / root
    u = _polynomial(sum_u, t)
    quotient = _polynomial(sum_w, t) / u
    slope_quotient = (_polynomial(_derived(sum_w), t) - quotient * _polynomial(_derived(sum_u), t)) / u
    # A = κ/(n + root) − κ g(t) with g = t² q/n, and dt/dκ = −t κ/root²
    g = t * t * quotient / order
    slope_g = t * (2 * quotient + t * slope_quotient) / order
    slope = t / (order + root) - g + slope_g * t * (kappa / root) ** 2
    length = kappa / (order + root) - kappa * g
    for n in range(int(steps), 0, -1):
        twice = 2 * (order - steps + n)
        below = twice + kappa * length
        slope = (twice / below - (kappa / below) * (kappa * slope)) / below
        length = kappa / below
    return slope


def _steps_and_order(dim: int) -> tuple[int, float]:
    """How many steps of Gauss's fraction lead down to v = dim/2 − 1, and the order they start from."""
    v = dim / 2 - 1
    steps = max(0, math.ceil(DEBYE_ORDER - v))
    return steps, v + steps


def _derived(coefficients: tuple[float, ...]) -> tuple[float, ...]:
    return tuple(power * c for power, c in enumerate(coefficients))[1:]


def _check_dimension(dim: int) -> None:
    if dim < 2:
        raise ValueError(f"a von Mises-Fisher density needs at least 2 dimensions, not {dim}")


class _MeanResultantLength(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, kappa: Tensor, dim: int) -> Tensor:
        ctx.save_for_backward(kappa)
        ctx.dim = dim
        wide = kappa.double()
        return (wide * log_bessel_and_ratio(wide, dim)[1]).to(kappa.dtype)

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor, None]:
        (kappa,) = ctx.saved_tensors
        return grad * _resultant_slope(kappa.double(), ctx.dim).to(grad.dtype), None


class _VmfLogNormalizer(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, kappa: Tensor, dim: int) -> Tensor:
        ctx.save_for_backward(kappa)
        ctx.dim = dim
        log_i = log_bessel_and_ratio(kappa.double(), dim)[0]
        return (-dim / 2 * math.log(2 * math.pi) - log_i).to(kappa.dtype)

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor, None]:
        (kappa,) = ctx.saved_tensors
        return -grad * mean_resultant_length(kappa, ctx.dim), None


def vmf_log_normalizer(kappa: Tensor, dim: int) -> Tensor:
    """log C_d(κ), element by element.

    Args:
        kappa: concentrations ≥ 0, any shape and floating dtype; computed in float64, returned in its own dtype.
        dim: d, the dimension of the space the sphere lies in, at least 2.

    Returns:
        a tensor like ``kappa``, twice differentiable; at κ = 0 it is minus the log of the sphere's area.

    Raises:
        ValueError: ``dim`` below 2.
    """
    _check_dimension(dim)
    return _VmfLogNormalizer.apply(kappa, dim)


def mean_resultant_length(kappa: Tensor, dim: int) -> Tensor:
    """A_d(κ) = I_{d/2}(κ) / I_{d/2−1}(κ) in [0, 1): the length of the mean of a vMF variable.

    Arguments, dtype and errors as :func:`vmf_log_normalizer`; ≈ κ/d near 0 and ≈ 1 − (d−1)/(2κ) for large κ.
    """
    _check_dimension(dim)
    return _MeanResultantLength.apply(kappa, dim)
