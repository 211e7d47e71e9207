"""The distances: the cosine loss 1 − cos(û, u), and the squared Euclidean distance of the raw prediction."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from fairseq_xl.losses.base import ClosedFormLoss, Reduction, TargetLoss
from fairseq_xl.losses.closed_form import ClosedForm, Geometry
from fairseq_xl.losses.table import TargetNorm, at_least_float32, check_shapes, unit_targets


class ScaleFree(ClosedForm):
    """A loss of the angle alone: its gradient is a multiple w of the cosine loss's, ∂L/∂e = w (cû − u) / κ."""

    def value_and_weight(self, at: Geometry) -> tuple[Tensor, Tensor]:
        """L and w; each (N,)."""
        raise NotImplementedError  # abstract: each subclass is one loss

    def value_and_gradient(self, at: Geometry) -> tuple[Tensor, Tensor, Tensor]:
        value, weight = self.value_and_weight(at)
        return value, weight * at.cosine * at.inverse, -weight * at.inverse


@dataclass(frozen=True)
class Cosine(ScaleFree):
    """L = 1 − c, w = 1."""

    name = "cosine"

    def value_and_weight(self, at: Geometry) -> tuple[Tensor, Tensor]:
        return 1 - at.cosine, torch.ones_like(at.cosine)


def cosine(pred: Tensor, target: Tensor, target_norm: TargetNorm = "check") -> Tensor:
    """1 − cos(û, u).

    Args:
        pred: raw predictions (N, d).
        target: (N, d).
        target_norm: see :data:`~fairseq_xl.losses.table.TargetNorm`.

    Returns:
        (N,) in [0, 2]

    Raises:
        ValueError: see :func:`~fairseq_xl.losses.table.unit_targets` and
            :func:`~fairseq_xl.losses.table.check_shapes`.
    """
    return Cosine().rows(pred, unit_targets(target, target_norm)).loss


class CosineLoss(ClosedFormLoss):
    """:func:`cosine` as a module."""

    def __init__(self, reduction: Reduction = "mean", target_norm: TargetNorm = "check"):
        super().__init__(Cosine(), reduction, target_norm)


def l2(pred: Tensor, target: Tensor, target_norm: TargetNorm = "check") -> Tensor:
    """‖e − u‖² on the raw prediction. Arguments and errors as :func:`cosine`; returns (N,)."""
    check_shapes(pred, target)
    target = unit_targets(target, target_norm)
    return (at_least_float32(pred) - at_least_float32(target)).square().sum(-1)


class L2Loss(TargetLoss):
    """:func:`l2` as a module."""

    def per_row(self, pred: Tensor, target: Tensor) -> Tensor:
        return l2(pred, target, "trust")
