"""What the losses share as modules: how rows become one number, and how a loss meets a frozen table.

e is the raw prediction, û = e/‖e‖ and κ = ‖e‖; u is the target, of unit length, which gets no gradient. Predictions in
half precision are computed in float32. A loss gives one value per row; only ``forward`` reduces them.
"""

from __future__ import annotations

from typing import ClassVar, Literal, get_args

import torch
from torch import Tensor, nn

from fairseq_xl.losses.closed_form import ClosedForm, Rows
from fairseq_xl.losses.table import FrozenTable, TargetNorm, at_least_float32, check_shapes, unit_targets

Reduction = Literal["mean", "sum", "none"]


class VectorLoss(nn.Module):
    """A loss on predicted vectors.

    Args:
        reduction: of the losses per row; ``none`` leaves them (N,).

    Raises:
        ValueError: an unknown reduction.
    """

    is_hinge: ClassVar[bool] = False
    """Whether rows of loss zero have come near enough to their targets."""
    learns_bias: ClassVar[bool] = False
    """Whether it reads the table's ``bias``."""

    def __init__(self, reduction: Reduction = "mean"):
        super().__init__()
        if reduction not in get_args(Reduction):
            raise ValueError(f"reduction is one of {', '.join(get_args(Reduction))}, not {reduction!r}")
        self.reduction = reduction

    def rows(self, pred: Tensor, index: Tensor, targets: FrozenTable) -> Rows:
        """The losses, cosines and norms (N,) of raw predictions (N, d) whose targets are rows (N,) of a table.

        The table's rows are of unit length, so nothing is checked.
        """
        raise NotImplementedError  # abstract: each subclass is one loss

    def diagnostics(self, rows: Rows) -> dict[str, Tensor]:
        """What is worth watching while training: figures per row (N,) by name, of which means are logged."""
        figures = {"cosine": rows.cosine, "kappa": rows.kappa}
        return {**figures, "hinge": rows.loss > 0} if self.is_hinge else figures

    def reduce(self, loss: Tensor) -> Tensor:
        """One number, or the losses (N,) themselves."""
        if self.reduction == "none":
            return loss
        return loss.mean() if self.reduction == "mean" else loss.sum()


class TargetLoss(VectorLoss):
    """A loss of each prediction and its target: a subclass is one method, :meth:`per_row`.

    Args:
        reduction: see :class:`VectorLoss`.
        target_norm: what :meth:`forward` does about targets that are not of unit length, see
            :data:`~fairseq_xl.losses.table.TargetNorm`.
    """

    def __init__(self, reduction: Reduction = "mean", target_norm: TargetNorm = "check"):
        super().__init__(reduction)
        self.target_norm = target_norm

    def per_row(self, pred: Tensor, target: Tensor) -> Tensor:
        """Losses (N,) of raw predictions (N, d) and unit targets (N, d)."""
        raise NotImplementedError  # abstract: each subclass is one loss

    def forward(self, pred: Tensor, target: Tensor) -> Tensor:
        """The loss of raw predictions (N, d) and targets (N, d).

        Raises:
            ValueError: see :func:`unit_targets` and :func:`~fairseq_xl.losses.table.check_shapes`.
        """
        check_shapes(pred, target)
        return self.reduce(self.per_row(pred, unit_targets(target, self.target_norm)))

    def rows(self, pred: Tensor, index: Tensor, targets: FrozenTable) -> Rows:
        check_shapes(pred, index=index)
        target = targets(index)
        return Rows(self.per_row(pred, target), *cosine_and_norm(pred, target))


class ClosedFormLoss(TargetLoss):
    """A :class:`TargetLoss` whose gradient is known in closed form."""

    def __init__(self, loss: ClosedForm, reduction: Reduction = "mean", target_norm: TargetNorm = "check"):
        super().__init__(reduction, target_norm)
        self.closed_form = loss

    def per_row(self, pred: Tensor, target: Tensor) -> Tensor:
        return self.closed_form.rows(pred, target).loss

    def rows(self, pred: Tensor, index: Tensor, targets: FrozenTable) -> Rows:
        return self.closed_form.rows(pred, targets.table, index)

    def extra_repr(self) -> str:
        return repr(self.closed_form)


class TableLoss(VectorLoss):
    """A loss of each prediction and words of a frozen table, its target and others: a subclass is ``rows``.

    Targets that come from no table make one: ``FrozenTable(target)``, whose rows are ``torch.arange(len(target))``.
    """

    def forward(self, pred: Tensor, index: Tensor, targets: FrozenTable) -> Tensor:
        """The loss of raw predictions (N, d) whose targets are rows (N,) of the table.

        Raises:
            ValueError: other shapes; a row below 0, such as the −100 of what other losses leave out. On CUDA nobody
                looks for one, for the look would wait.
        """
        if pred.dim() != 2:
            raise ValueError(
                f"predictions of shape {tuple(pred.shape)}: give those that have a target as (N, {targets.dim}), and "
                "their rows of the table as (N,), such as pred[real], index[real]"
            )
        targets.check_width(pred)
        check_shapes(pred, index=index)
        if not index.is_cuda and (index < 0).any():
            raise ValueError(
                f"row {int(index.min())} is no target: leave out what has none, as pred[real], index[real]"
            )
        return self.reduce(self.rows(pred, index, targets).loss)


@torch.no_grad()
def cosine_and_norm(pred: Tensor, target: Tensor) -> tuple[Tensor, Tensor]:
    """c and κ (N,) of raw predictions (N, d) to unit targets (N, d)."""
    pred, target = at_least_float32(pred), at_least_float32(target)
    kappa = torch.linalg.vector_norm(pred, dim=-1)
    return (pred * target).sum(-1) / kappa.clamp_min(1e-30), kappa
