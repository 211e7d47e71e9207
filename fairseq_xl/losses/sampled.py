r"""The margin loss against words of the table, which are named by their rows and never copied out of it.

With negatives n₁ … n_k held constant, cosines c = ûᵀu and c_j = ûᵀn_j, and a_j = 1 where the hinge λ + c_j − c is
active,

    L = 1/k Σ max(0, λ + c_j − c),
    ∂L/∂e = (1/k Σ a_j n_j − a u − p û) / κ,    a = 1/k Σ a_j,    p = 1/k Σ a_j c_j − a c,

so the forward pass keeps (N, k) weights and a few scalars per row, and the backward pass sums the rows of the table
that they weight. An (N, k, d) tensor of negatives, which autograd would keep twice, never exists.
"""

from __future__ import annotations

from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor
from torch.autograd.function import once_differentiable

from fairseq_xl.losses.fused import Rows, at_least_float32, inverse_or_zero


def sampled_margin(pred: Tensor, table: Tensor, index: Tensor, negatives: Tensor, margin: float) -> Rows:
    """max(0, λ + n_jᵀû − uᵀû), averaged over a row's negatives (Bhat et al. 2019, equation 1).

    Args:
        pred: raw predictions (N, d).
        table: unit rows (V, d).
        index: (N,) rows of the table that are the targets.
        negatives: (N, k) rows of the table to stay away from.
        margin: λ.

    Raises:
        ValueError: the table asks for a gradient, which a frozen table never gets.
    """
    if table.requires_grad:
        raise ValueError("the targets of a continuous loss are frozen: detach them")
    return Rows(*_SampledMargin.apply(pred, table, index, negatives, margin))


class _SampledMargin(torch.autograd.Function):
    @staticmethod
    def forward(
        ctx: Any, pred: Tensor, table: Tensor, index: Tensor, negatives: Tensor, margin: float
    ) -> tuple[Tensor, Tensor, Tensor]:
        e = at_least_float32(pred)
        kappa = torch.linalg.vector_norm(e, dim=-1)
        inverse = inverse_or_zero(kappa)
        unit = e * inverse.unsqueeze(-1)
        c = (unit * table[index]).sum(-1)
        # One negative of every row at a time: (N, d) is the largest thing there is.
        against = torch.stack([(unit * table[n]).sum(-1) for n in negatives.unbind(1)], 1)
        hinge = margin + against - c.unsqueeze(1)
        active = (hinge > 0).to(e.dtype) / negatives.shape[1]
        share = active.sum(1)
        along = share * c - (active * against).sum(1)
        ctx.save_for_backward(pred, table, index, negatives, kappa, active, along, share)
        ctx.mark_non_differentiable(c, kappa)
        return hinge.clamp_min(0).mean(1), c, kappa

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, upstream: Tensor, *_: Tensor) -> tuple[Tensor | None, ...]:
        pred, table, index, negatives, kappa, active, along, share = ctx.saved_tensors
        e = at_least_float32(pred)
        inverse = inverse_or_zero(kappa)
        scale = upstream * inverse
        weights = active * scale.unsqueeze(1)
        gradient = F.embedding_bag(negatives, table.to(e.dtype), mode="sum", per_sample_weights=weights.to(e.dtype))
        gradient.addcmul_(table[index].to(e.dtype), (-scale * share).unsqueeze(1))
        # û first: 1/κ can be large, and its products with other factors larger than a float
        gradient.addcmul_(e * inverse.unsqueeze(1), (scale * along).unsqueeze(1))
        return gradient.to(pred.dtype), None, None, None, None
