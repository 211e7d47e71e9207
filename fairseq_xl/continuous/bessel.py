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
from functools import lru_cache

import torch
from torch import Tensor

#: Orders from here on are accurate by Debye's expansion alone.
DEBYE_ORDER = 64
DEBYE_TERMS = 10


@lru_cache(maxsize=1)
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
    return (
        tuple(tuple(float(c) for c in p) for p in u),
        tuple(tuple(float(c) for c in p) for p in w),
    )


def _polynomial(coefficients: tuple[float, ...], t: Tensor) -> Tensor:
    value = torch.full_like(t, coefficients[-1])
    for c in reversed(coefficients[:-1]):
        value = value * t + c
    return value


def _debye(kappa: Tensor, n: float) -> tuple[Tensor, Tensor]:
    """(l_n, r_n) at an order n ≥ DEBYE_ORDER; ``kappa`` float64."""
    u, w = _debye_polynomials()
    root = torch.hypot(kappa, torch.full_like(kappa, n))  # √(n² + κ²), no overflow at 1e300
    t = n / root
    sum_u = torch.ones_like(t)
    sum_w = torch.zeros_like(t)
    for k in range(1, DEBYE_TERMS + 1):
        sum_u = sum_u + _polynomial(u[k], t) / n**k
        sum_w = sum_w + _polynomial(w[k - 1], t) / n**k
    log_i = root - n * torch.log(n + root) - 0.5 * torch.log(2 * math.pi * root) + sum_u.log()
    # r_n = (I'_n/I_n − n/κ)/κ with the part that cancels as κ → 0 taken out by hand (1 − t² = κ²/root²).
    ratio = 1 / (n + root) - (t / root) * (sum_w / sum_u)
    return log_i, ratio


def _log_bessel_and_ratio(kappa: Tensor, order: float) -> tuple[Tensor, Tensor]:
    """(l_v, r_v) for any order v ≥ 0; ``kappa`` float64, non-negative."""
    steps = max(0, math.ceil(DEBYE_ORDER - order))
    log_i, ratio = _debye(kappa, order + steps)
    squared = kappa * kappa
    for step in range(steps, 0, -1):
        ratio = 1 / (2 * (order + step) + squared * ratio)
        log_i = log_i - ratio.log()
    return log_i, ratio


def _check_dimension(dim: int) -> float:
    if dim < 2:
        raise ValueError(f"a von Mises-Fisher density needs at least 2 dimensions, not {dim}")
    return dim / 2 - 1


class _MeanResultantLength(torch.autograd.Function):
    @staticmethod
    def forward(ctx, kappa: Tensor, dim: int) -> Tensor:
        ctx.save_for_backward(kappa)
        ctx.dim = dim
        wide = kappa.double()
        return (wide * _log_bessel_and_ratio(wide, dim / 2 - 1)[1]).to(kappa.dtype)

    @staticmethod
    def backward(ctx, grad: Tensor) -> tuple[Tensor, None]:
        # A' = 1 − A² − (d−1) A/κ, with A/κ = r_v finite at κ = 0
        (kappa,) = ctx.saved_tensors
        wide = kappa.double()
        ratio = _log_bessel_and_ratio(wide, ctx.dim / 2 - 1)[1]
        slope = 1 - (wide * ratio) ** 2 - (ctx.dim - 1) * ratio
        return grad * slope.to(grad.dtype), None


class _LogNormalizer(torch.autograd.Function):
    @staticmethod
    def forward(ctx, kappa: Tensor, dim: int) -> Tensor:
        ctx.save_for_backward(kappa)
        ctx.dim = dim
        log_i = _log_bessel_and_ratio(kappa.double(), dim / 2 - 1)[0]
        return (-dim / 2 * math.log(2 * math.pi) - log_i).to(kappa.dtype)

    @staticmethod
    def backward(ctx, grad: Tensor) -> tuple[Tensor, None]:
        (kappa,) = ctx.saved_tensors
        return -grad * mean_resultant_length(kappa, ctx.dim), None


def log_normalizer(kappa: Tensor, dim: int) -> Tensor:
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
    return _LogNormalizer.apply(kappa, dim)


def mean_resultant_length(kappa: Tensor, dim: int) -> Tensor:
    """A_d(κ) = I_{d/2}(κ) / I_{d/2−1}(κ) in [0, 1): the length of the mean of a vMF variable.

    Arguments, dtype and errors as :func:`log_normalizer`; ≈ κ/d near 0 and ≈ 1 − (d−1)/(2κ) for large κ.
    """
    _check_dimension(dim)
    return _MeanResultantLength.apply(kappa, dim)
