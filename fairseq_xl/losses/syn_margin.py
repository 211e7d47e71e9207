"""The margin losses with a synthetic negative (Bhat, Kumar & Tsvetkov 2019, section 3.2).

The negative u' is made from the prediction and its target, and held constant: L = max(0, λ + u'ᵀû − uᵀû). Both
negatives lie in the plane of û and u. With c = cos(û, u) the gradient is therefore w (cû − u) / κ. For the projection
it has w = 1 + c/s with s = ‖û − cu‖ = sin. For the difference it has w = 1 + 1/r with r = ‖û − u‖. Where the hinge is
inactive, w = 0. By convention the gradient is zero where there is no direction: at e = 0, s = 0 and r = 0.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from fairseq_xl.losses.base import ClosedFormLoss, Reduction
from fairseq_xl.losses.closed_form import Geometry, Rows
from fairseq_xl.losses.distances import ScaleFree
from fairseq_xl.losses.table import TargetNorm, check_margin, inverse_or_zero, unit_targets, zero_if_rounding


@dataclass(frozen=True)
class SyntheticMargin(ScaleFree):
    """A hinge against a negative in the plane of û and u."""

    margin: float

    def negative(self, at: Geometry) -> tuple[Tensor, Tensor]:
        """u'ᵀû, and the weight w − 1 of its gradient; each (N,)."""
        raise NotImplementedError  # abstract: each subclass is one negative

    def value_and_weight(self, at: Geometry) -> tuple[Tensor, Tensor]:
        against, pull = self.negative(at)
        value = self.margin + against - at.cosine
        return value.clamp_min(0), torch.where(value > 0, 1 + pull, 0)


@dataclass(frozen=True)
class SynMarginProj(SyntheticMargin):
    """Against u_orth, the unit vector along the part of û orthogonal to u (Figure 1 top): u_orthᵀû = s."""

    name = "syn_margin_proj"

    def negative(self, at: Geometry) -> tuple[Tensor, Tensor]:
        unit = at.e * at.inverse.unsqueeze(-1)
        s = zero_if_rounding(torch.linalg.vector_norm(unit - at.cosine.unsqueeze(-1) * at.u, dim=-1))
        return s, at.cosine * inverse_or_zero(s)


@dataclass(frozen=True)
class SynMarginDiff(SyntheticMargin):
    """Against u_diff, the unit vector along û − u (Figure 1 bottom): u_diffᵀû = (û − u)ᵀû / r = (1 − c) / r = r / 2."""

    name = "syn_margin_diff"

    def negative(self, at: Geometry) -> tuple[Tensor, Tensor]:
        apart = torch.linalg.vector_norm(at.e * at.inverse.unsqueeze(-1) - at.u, dim=-1)
        r = torch.where(at.kappa > 0, zero_if_rounding(apart), 0)
        return r / 2, inverse_or_zero(r)


def syn_margin_proj(pred: Tensor, target: Tensor, margin: float = 0.5, target_norm: TargetNorm = "check") -> Tensor:
    """Margin loss against u_orth; its value is max(0, λ + sin − cos).

    Beyond 135° between û and u its gradient turns the prediction *away* from the target. With the negative held
    constant the loss is λ + u_orthᵀû − uᵀû. Its pull along the great circle is cos + sin.

    Args:
        pred: raw predictions (N, d).
        target: (N, d).
        margin: λ. With 0.5 the hinge ends at a cosine of 0.911.
        target_norm: see :data:`~fairseq_xl.losses.table.TargetNorm`.

    Returns:
        (N,)

    Raises:
        ValueError: see :func:`~fairseq_xl.losses.table.unit_targets` and
            :func:`~fairseq_xl.losses.table.check_shapes`.
    """
    return SynMarginProj(margin).rows(pred, unit_targets(target, target_norm)).loss


class SynMarginProjLoss(ClosedFormLoss):
    """:func:`syn_margin_proj` as a module; logs the share of rows that it repels."""

    is_hinge = True

    def __init__(self, margin: float = 0.5, reduction: Reduction = "mean", target_norm: TargetNorm = "check"):
        super().__init__(SynMarginProj(check_margin(margin)), reduction, target_norm)

    def diagnostics(self, rows: Rows) -> dict[str, Tensor]:
        return {**super().diagnostics(rows), "repelled": rows.cosine < -(0.5**0.5)}


def syn_margin_diff(pred: Tensor, target: Tensor, margin: float = 0.7, target_norm: TargetNorm = "check") -> Tensor:
    """Margin loss against u_diff; its value is max(0, λ + √((1−cos)/2) − cos).

    Arguments and errors as :func:`syn_margin_proj`; with a margin of 0.7 the hinge ends at a cosine of 0.911, too.
    """
    return SynMarginDiff(margin).rows(pred, unit_targets(target, target_norm)).loss


class SynMarginDiffLoss(ClosedFormLoss):
    """:func:`syn_margin_diff` as a module."""

    is_hinge = True

    def __init__(self, margin: float = 0.7, reduction: Reduction = "mean", target_norm: TargetNorm = "check"):
        super().__init__(SynMarginDiff(check_margin(margin)), reduction, target_norm)
