"""The losses of continuous-output translation: (prediction, target[, negative]) -> one loss per row.

Nothing here reduces, samples or knows fairseq. ``pred`` (N, d) is the raw prediction e with û = e/‖e‖ and
κ = ‖e‖; ``target`` (N, d) holds unit rows u, which get no gradient. Predictions in half precision are computed in
float32. The losses that need the target alone are computed by ``fused.py``, with closed-form gradients.
"""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import Tensor

from fairseq_xl.losses.fused import at_least_float32, target_only


def unit_rows(pred: Tensor) -> Tensor:
    """û per row; zero, with zero gradient, where e = 0."""
    norm = torch.linalg.vector_norm(pred, dim=-1, keepdim=True)
    safe = torch.where(norm > 0, norm, torch.ones_like(norm))
    return torch.where(norm > 0, pred / safe, pred.detach())


def vmf(pred: Tensor, target: Tensor, lambda1: float = 0.0, lambda2: float = 1.0) -> Tensor:
    """−log C_d(κ) − λ₂ eᵀu + λ₁ κ (Kumar & Tsvetkov 2019, section 4.1).

    λ₁ = 0, λ₂ = 1 is the negative log-likelihood of u under vMF(û, κ), the baseline of Bhat et al. 2019;
    λ₁ = 0.02, λ₂ = 0.1 is the regularised form of the 2019 paper. Returns (N,).
    """
    return target_only("vmf", pred, target, first=lambda1, second=lambda2).loss


def vmf_released(pred: Tensor, target: Tensor) -> Tensor:
    """−log C_d(κ) + log(1 + κ)(0.2 − cos(û, u)): what the 2019 paper's released code minimises. Returns (N,)."""
    return target_only("vmf_released", pred, target).loss


def cosine(pred: Tensor, target: Tensor) -> Tensor:
    """1 − cos(û, u). Returns (N,) in [0, 2]."""
    return target_only("cosine", pred, target).loss


def l2(pred: Tensor, target: Tensor) -> Tensor:
    """‖e − u‖², on the raw prediction. Returns (N,)."""
    pred, target = at_least_float32(pred), at_least_float32(target)
    return (pred - target).square().sum(-1)


def margin(pred: Tensor, target: Tensor, negative: Tensor, margin: float) -> Tensor:
    """max(0, λ + u'ᵀû − uᵀû), averaged over negatives (Bhat et al. 2019, equation 1).

    Args:
        pred: raw predictions (N, d).
        target: unit rows (N, d).
        negative: unit rows (N, d), or (N, k, d) for k negatives each; taken as constants.
        margin: λ.

    Returns:
        (N,)
    """
    pred, target, negative = at_least_float32(pred), at_least_float32(target), at_least_float32(negative).detach()
    unit = unit_rows(pred)
    positive = (unit * target).sum(-1)
    if negative.dim() == pred.dim():
        return F.relu(margin + (unit * negative).sum(-1) - positive)
    against = (negative @ unit.unsqueeze(-1)).squeeze(-1)
    return F.relu(margin + against - positive.unsqueeze(-1)).mean(-1)


def syn_margin_proj(pred: Tensor, target: Tensor, margin: float) -> Tensor:
    """Margin loss against u_orth (Bhat et al. 2019, section 3.2); value max(0, λ + sin − cos). Returns (N,).

    Beyond 135° between û and u its gradient turns the prediction *away* from the target: with the negative held
    constant the loss is λ + u_orthᵀû − uᵀû, whose pull along the great circle is cos + sin.
    """
    return target_only("syn_margin_proj", pred, target, first=margin).loss


def syn_margin_diff(pred: Tensor, target: Tensor, margin: float) -> Tensor:
    """Margin loss against u_diff (section 3.2); value max(0, λ + √((1−cos)/2) − cos). Returns (N,)."""
    return target_only("syn_margin_diff", pred, target, first=margin).loss
