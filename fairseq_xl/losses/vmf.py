"""The von Mises-Fisher losses: one vector gives a density of mean direction û = e/‖e‖ and concentration κ = ‖e‖.

Three different losses are published: the likelihood, its regularised form (Kumar & Tsvetkov 2019, section 4.1), and
what that paper's released code minimises. The gradient of −log C_d(κ) is A_d(κ) û, see ``bessel.py``.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import torch
from torch import Tensor

from fairseq_xl.losses.base import ClosedFormLoss, Reduction
from fairseq_xl.losses.bessel import log_bessel_and_ratio, prepare
from fairseq_xl.losses.closed_form import ClosedForm, Geometry
from fairseq_xl.losses.table import TargetNorm, unit_targets


class _Vmf(ClosedForm):
    def prepare(self, dim: int) -> None:
        prepare(dim)

    def normaliser(self, at: Geometry) -> tuple[Tensor, Tensor]:
        """log C_d(κ) and A_d(κ); each (N,)."""
        dim = at.e.shape[-1]
        log_i, ratio = log_bessel_and_ratio(at.kappa.double(), dim)
        log_c = -(dim / 2 * math.log(2 * math.pi) + log_i).to(at.e.dtype)
        return log_c, (at.kappa * ratio).to(at.e.dtype)


@dataclass(frozen=True)
class Vmf(_Vmf):
    """L = λ₁ κ − log C_d(κ) − λ₂ κ c."""

    name = "vmf"
    lambda1: float = 0.0
    lambda2: float = 1.0

    def value_and_gradient(self, at: Geometry) -> tuple[Tensor, Tensor, Tensor]:
        log_c, mean_length = self.normaliser(at)
        value = self.lambda1 * at.kappa - log_c - self.lambda2 * at.kappa * at.cosine
        return value, mean_length + self.lambda1, torch.full_like(at.cosine, -self.lambda2)


@dataclass(frozen=True)
class VmfReleased(_Vmf):
    """L = log(1 + κ) (0.2 − c) − log C_d(κ)."""

    name = "vmf_released"

    def value_and_gradient(self, at: Geometry) -> tuple[Tensor, Tensor, Tensor]:
        log_c, mean_length = self.normaliser(at)
        grown = torch.log1p(at.kappa)
        along = (0.2 - at.cosine) / (1 + at.kappa) + grown * at.cosine * at.inverse
        return grown * (0.2 - at.cosine) - log_c, mean_length + along, -grown * at.inverse


def vmf(
    pred: Tensor, target: Tensor, lambda1: float = 0.0, lambda2: float = 1.0, target_norm: TargetNorm = "check"
) -> Tensor:
    """−log C_d(κ) − λ₂ eᵀu + λ₁ κ.

    λ₁ = 0, λ₂ = 1 is the negative log-likelihood of u under vMF(û, κ), the baseline of Bhat et al. 2019. λ₁ = 0.02, λ₂
    = 0.1 is the regularised form of Kumar & Tsvetkov 2019.

    Args:
        pred: raw predictions (N, d).
        target: (N, d).
        lambda1: λ₁, weight of the norm penalty.
        lambda2: λ₂, weight of the dot product with the target.
        target_norm: see :data:`~fairseq_xl.losses.table.TargetNorm`.

    Returns:
        (N,)

    Raises:
        ValueError: see :func:`~fairseq_xl.losses.table.unit_targets` and
            :func:`~fairseq_xl.losses.table.check_shapes`.
    """
    return Vmf(lambda1, lambda2).rows(pred, unit_targets(target, target_norm)).loss


class VmfLoss(ClosedFormLoss):
    """:func:`vmf` as a module."""

    def __init__(
        self,
        lambda1: float = 0.0,
        lambda2: float = 1.0,
        reduction: Reduction = "mean",
        target_norm: TargetNorm = "check",
    ):
        super().__init__(Vmf(lambda1, lambda2), reduction, target_norm)


def vmf_released(pred: Tensor, target: Tensor, target_norm: TargetNorm = "check") -> Tensor:
    """−log C_d(κ) + log(1 + κ)(0.2 − cos(û, u)): what the 2019 paper's released code minimises.

    Arguments and errors as :func:`vmf`; returns (N,).
    """
    return VmfReleased().rows(pred, unit_targets(target, target_norm)).loss


class VmfReleasedLoss(ClosedFormLoss):
    """:func:`vmf_released` as a module."""

    def __init__(self, reduction: Reduction = "mean", target_norm: TargetNorm = "check"):
        super().__init__(VmfReleased(), reduction, target_norm)
