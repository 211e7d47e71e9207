"""The losses as they are written before anyone has measured them: the papers' formulas under autograd."""

from __future__ import annotations

from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor

from benchmarks.bessel import scipy_length, scipy_log
from fairseq_xl.continuous.criteria.criterion import ContinuousCriterion
from fairseq_xl.losses import TargetLoss


def naive(kind: str, pred: Tensor, target: Tensor) -> Tensor:
    """The papers' formulas, differentiated by autograd."""
    unit = F.normalize(pred, dim=-1)
    cosine = (unit * target).sum(-1)
    if kind == "cosine":
        return 1 - cosine
    with torch.no_grad():
        away = unit - target if kind == "syn_margin_diff" else unit - cosine.unsqueeze(-1) * target
        negative = F.normalize(away, dim=-1)
    return F.relu(0.5 + (unit * negative).sum(-1) - cosine)


class _ScipyLogNormalizer(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, kappa: Tensor, dim: int) -> Tensor:
        ctx.save_for_backward(kappa)
        ctx.dim = dim
        return scipy_log(kappa.detach(), dim).to(kappa)

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor, None]:
        (kappa,) = ctx.saved_tensors
        return -grad * scipy_length(kappa.detach(), ctx.dim).to(kappa), None


def scipy_vmf(pred: Tensor, target: Tensor) -> Tensor:
    """−log C_d(κ) − eᵀu with the normaliser computed outside torch."""
    kappa = pred.norm(dim=-1)
    return -_ScipyLogNormalizer.apply(kappa, pred.shape[-1]) - (pred * target).sum(-1)


class NaiveProjectionLoss(TargetLoss):
    """The projection's hinge by autograd, the targets copied out of the table."""

    def per_row(self, pred: Tensor, target: Tensor) -> Tensor:
        return naive("syn_margin_proj", pred, target)


class NaiveProjection(ContinuousCriterion):
    """There is no such criterion for vMF: SciPy's normaliser is infinite at the short predictions of a fresh model."""

    registered_name = "syn_margin_proj_naive"

    def __init__(self, task: Any, sentence_avg: bool):
        super().__init__(task, sentence_avg, NaiveProjectionLoss())
