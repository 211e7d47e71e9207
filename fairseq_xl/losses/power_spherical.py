r"""The likelihood of the power spherical distribution (De Cao & Aziz 2020, equation 2).

Its density on the unit sphere in d dimensions is, for a mean direction μ and a concentration κ ≥ 0,

    p(x) = (1 + μᵀx)^κ / (2^{α+β} π^β Γ(α)/Γ(α+β)),    β = (d−1)/2,  α = β + κ.

It falls off around μ as von Mises-Fisher's does, but its normaliser needs no Bessel function.
"""

from __future__ import annotations

import math

import torch
from torch import Tensor

from fairseq_xl.losses.base import TargetLoss
from fairseq_xl.losses.table import TargetNorm, check_shapes, unit_rows, unit_targets

OPPOSITE = 1e-6
"""1 + μᵀx is taken for no smaller than this, which a table in float32 cannot tell from zero reliably."""


def power_spherical_log_normalizer(kappa: Tensor, dim: int) -> Tensor:
    """log of the factor that makes a density of (1 + μᵀx)^κ, in float64.

    Args:
        kappa: concentrations ≥ 0, of any shape.
        dim: d, the dimension of the space the sphere lies in, at least 2.

    Raises:
        ValueError: ``dim`` below 2.
    """
    if dim < 2:
        raise ValueError(f"a power spherical density needs at least 2 dimensions, not {dim}")
    beta = (dim - 1) / 2
    alpha = beta + kappa.double()
    log_ratio = torch.lgamma(alpha) - torch.lgamma(alpha + beta)
    return -((alpha + beta) * math.log(2) + beta * math.log(math.pi) + log_ratio)


def power_spherical(pred: Tensor, target: Tensor, target_norm: TargetNorm = "check") -> Tensor:
    """−log p(u), the negative log-likelihood of u under the power spherical distribution that e stands for.

    As for von Mises-Fisher, one vector gives both parameters: μ = û = e/‖e‖ and κ = ‖e‖. A target opposite to μ has
    density zero and the loss grows without bound, so the factor 1 + ûᵀu is held at ``OPPOSITE`` below that. The loss
    stays finite. Its gradient there is that of a constant times κ and only shortens e. At e = 0 the gradient is zero by
    convention.

    Computed in float64 from inputs of any floating type: at κ = 1e6 terms of that size cancel.

    Args:
        pred: raw predictions e (N, d).
        target: u (N, d).
        target_norm: see :data:`~fairseq_xl.losses.table.TargetNorm`.

    Returns:
        (N,), in float32 or the wider type of ``pred``.

    Raises:
        ValueError: d below 2; see :func:`~fairseq_xl.losses.table.unit_targets` and
            :func:`~fairseq_xl.losses.table.check_shapes`.
    """
    check_shapes(pred, target)
    target = unit_targets(target, target_norm)
    e = pred.double()
    kappa = torch.linalg.vector_norm(e, dim=-1)
    cosine = (unit_rows(e) * target.double()).sum(-1)
    closeness = (1 + cosine).clamp_min(OPPOSITE)
    loss = -power_spherical_log_normalizer(kappa, pred.shape[-1]) - kappa * closeness.log()
    return loss.to(torch.promote_types(pred.dtype, torch.float32))


class PowerSphericalLoss(TargetLoss):
    """:func:`power_spherical` as a module."""

    def per_row(self, pred: Tensor, target: Tensor) -> Tensor:
        return power_spherical(pred, target, "trust")
