r"""The margin loss, against given vectors or against words of a frozen table (Bhat, Kumar & Tsvetkov 2019, equation 1).

Words are named by their rows and never copied out of the table. With negatives n₁ … n_k held constant, cosines
c = ûᵀu and c_j = ûᵀn_j, and a_j = 1 where the hinge λ + c_j − c is active,

    L = 1/k Σ max(0, λ + c_j − c),
    ∂L/∂e = (1/k Σ a_j n_j − a u − p û) / κ,    a = 1/k Σ a_j,    p = 1/k Σ a_j c_j − a c,

So the forward pass keeps (N, k) weights and a few scalars per row. The backward pass sums the rows of the table with
these weights. An (N, k, d) tensor of negatives, which autograd would keep twice, never exists.
"""

from __future__ import annotations

from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor
from torch.autograd.function import once_differentiable

from fairseq_xl.losses.base import Reduction, TableLoss, VectorLoss
from fairseq_xl.losses.closed_form import Rows
from fairseq_xl.losses.negatives import in_batch_negative_words, most_informative_negative_words, uniform_negative_words
from fairseq_xl.losses.table import (
    FrozenTable,
    TargetNorm,
    at_least_float32,
    check_margin,
    check_shapes,
    inverse_or_zero,
    unit_rows,
    unit_targets,
)


def margin(
    pred: Tensor, target: Tensor, negative: Tensor, margin: float = 0.5, target_norm: TargetNorm = "check"
) -> Tensor:
    """max(0, λ + u'ᵀû − uᵀû), averaged over negatives u'.

    Args:
        pred: raw predictions (N, d).
        target: (N, d).
        negative: (N, d), or (N, k, d) for k negatives each; taken as constants.
        margin: λ.
        target_norm: of targets and negatives, see :data:`~fairseq_xl.losses.table.TargetNorm`.

    Returns:
        (N,)

    Raises:
        ValueError: see :func:`~fairseq_xl.losses.table.unit_targets` and
            :func:`~fairseq_xl.losses.table.check_shapes`.
    """
    check_shapes(pred, target)
    several = negative.dim() == pred.dim() + 1
    if ((*negative.shape[:-2], negative.shape[-1]) if several else negative.shape) != pred.shape:
        raise ValueError(
            f"each prediction has negatives of its own: predictions of shape {tuple(pred.shape)} need that shape, or "
            f"an axis more before the last one, not {tuple(negative.shape)}"
        )
    pred, target = at_least_float32(pred), at_least_float32(unit_targets(target, target_norm))
    negative = at_least_float32(unit_targets(negative.detach(), target_norm))
    unit = unit_rows(pred)
    positive = (unit * target).sum(-1)
    if not several:
        return F.relu(margin + (unit * negative).sum(-1) - positive)
    against = (negative @ unit.unsqueeze(-1)).squeeze(-1)
    return F.relu(margin + against - positive.unsqueeze(-1)).mean(-1)


class MarginLoss(VectorLoss):
    """:func:`margin` as a module, for negatives that the caller gives."""

    def __init__(self, margin: float = 0.5, reduction: Reduction = "mean", target_norm: TargetNorm = "check"):
        super().__init__(reduction)
        self.margin, self.target_norm = check_margin(margin), target_norm

    def forward(self, pred: Tensor, target: Tensor, negative: Tensor) -> Tensor:
        return self.reduce(margin(pred, target, negative, self.margin, self.target_norm))


def margin_rows(pred: Tensor, index: Tensor, targets: FrozenTable, negatives: Tensor, margin: float) -> Rows:
    """:func:`margin` against rows of a table, one loss per row.

    Args:
        pred: raw predictions (N, d).
        index: (N,) rows of the table that are the targets.
        targets: the table.
        negatives: (N, k) rows of the table to stay away from.
        margin: λ.
    """
    check_shapes(pred, index=index)
    return Rows(*_MarginRows.apply(pred, targets.table, index, negatives, margin))


class _MarginRows(torch.autograd.Function):
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


class TableMarginLoss(TableLoss):
    """A hinge against words of a table; a subclass is one source of them, :meth:`negatives`."""

    is_hinge = True

    def __init__(self, margin: float = 0.5, reduction: Reduction = "mean"):
        super().__init__(reduction)
        self.margin = check_margin(margin)

    def negatives(self, pred: Tensor, index: Tensor, targets: FrozenTable) -> Tensor:
        """Rows of the table (N, k) to stay away from."""
        raise NotImplementedError  # abstract: each subclass is one source of negatives

    def rows(self, pred: Tensor, index: Tensor, targets: FrozenTable) -> Rows:
        check_shapes(pred, index=index)  # before negatives are looked for
        return margin_rows(pred, index, targets, self.negatives(pred, index, targets), self.margin)


def negative_sampling(
    pred: Tensor,
    index: Tensor,
    targets: FrozenTable,
    margin: float = 0.75,
    negatives: int = 5,
    generator: torch.Generator | None = None,
) -> Tensor:
    """The margin loss against negatives sampled uniformly, never the target (Bhat et al. 2019, section 3.1).

    Args:
        pred: raw predictions (N, d).
        index: (N,) rows of the table that are the targets.
        targets: the table.
        margin: λ. A sampled word is about across both target and prediction, so the hinge ends near a cosine of λ.
        negatives: draws per target.
        generator: see :func:`~fairseq_xl.losses.negatives.uniform_negative_words`.

    Returns:
        (N,)

    Raises:
        ValueError: fewer than two words to draw from, or no draws; see
            :func:`~fairseq_xl.losses.table.check_shapes`.
    """
    return NegativeSamplingLoss(margin, negatives, generator=generator).rows(pred, index, targets).loss


class NegativeSamplingLoss(TableMarginLoss):
    """:func:`negative_sampling` as a module.

    Raises:
        ValueError: no draws.
    """

    def __init__(
        self,
        margin: float = 0.75,
        negatives: int = 5,
        reduction: Reduction = "mean",
        generator: torch.Generator | None = None,
    ):
        super().__init__(margin, reduction)
        if negatives < 1:
            raise ValueError(f"negative sampling takes 1 negative or more, not {negatives}")
        self.draws, self.generator = negatives, generator

    def negatives(self, pred: Tensor, index: Tensor, targets: FrozenTable) -> Tensor:
        return uniform_negative_words(index, targets, self.draws, self.generator)


def most_informative_negative(
    pred: Tensor, index: Tensor, targets: FrozenTable, margin: float = 0.75, chunk_elements: int = 2**24
) -> Tensor:
    """The margin loss against the word nearest to û − u (Lazaridou, Dinu & Baroni 2015).

    Arguments as :func:`negative_sampling`; ``chunk_elements`` is the largest similarity matrix held at once.

    Raises:
        ValueError: fewer than two words to choose from; see :func:`~fairseq_xl.losses.table.check_shapes`.
    """
    return MostInformativeLoss(margin, chunk_elements).rows(pred, index, targets).loss


class MostInformativeLoss(TableMarginLoss):
    """:func:`most_informative_negative` as a module."""

    def __init__(self, margin: float = 0.75, chunk_elements: int = 2**24, reduction: Reduction = "mean"):
        super().__init__(margin, reduction)
        self.chunk_elements = chunk_elements

    def negatives(self, pred: Tensor, index: Tensor, targets: FrozenTable) -> Tensor:
        return most_informative_negative_words(pred, index, targets, self.chunk_elements).unsqueeze(1)


def in_batch_negative(
    pred: Tensor,
    index: Tensor,
    targets: FrozenTable,
    margin: float = 0.5,
    semi_hard: bool = False,
    chunk_elements: int = 2**24,
) -> Tensor:
    """The margin loss against another target of the batch.

    :func:`~fairseq_xl.losses.negatives.in_batch_negative_words` chooses it, with ``semi_hard`` and
    ``chunk_elements``. Other arguments as :func:`negative_sampling`. Returns (N,), zero where there is no negative.
    """
    return InBatchLoss(margin, semi_hard, chunk_elements).rows(pred, index, targets).loss


class InBatchLoss(TableMarginLoss):
    """:func:`in_batch_negative` as a module."""

    def __init__(
        self,
        margin: float = 0.5,
        semi_hard: bool = False,
        chunk_elements: int = 2**24,
        reduction: Reduction = "mean",
    ):
        super().__init__(margin, reduction)
        self.semi_hard, self.chunk_elements = semi_hard, chunk_elements

    def negatives(self, pred: Tensor, index: Tensor, targets: FrozenTable) -> Tensor:
        return in_batch_negative_words(pred, index, targets, self.semi_hard, self.chunk_elements).unsqueeze(1)

    def rows(self, pred: Tensor, index: Tensor, targets: FrozenTable) -> Rows:
        check_shapes(pred, index=index)
        chosen = self.negatives(pred, index, targets)
        found = margin_rows(pred, index, targets, chosen, self.margin)
        return found._replace(loss=found.loss.masked_fill(chosen.squeeze(1) == index, 0))
