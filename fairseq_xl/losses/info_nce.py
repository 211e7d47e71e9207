"""InfoNCE: the target against every other word of the batch (van den Oord, Li & Vinyals 2018, equation 4)."""

from __future__ import annotations

import torch
from torch import Tensor
from torch.utils.checkpoint import checkpoint

from fairseq_xl.losses.base import Reduction, TableLoss, cosine_and_norm
from fairseq_xl.losses.kernels import Rows
from fairseq_xl.losses.table import FrozenTable, at_least_float32, unit_rows


def info_nce(
    pred: Tensor, index: Tensor, targets: FrozenTable, scale: float = 20.0, chunk_elements: int = 2**24
) -> Tensor:
    """−log exp(s·ûᵀu) / Σ_j exp(s·ûᵀu_j) over the different targets u_j of the batch.

    A word that is the target of several rows is counted once, so no row has its own target as a negative. The table
    is constant. Memory is that of a chunk of similarities, which the backward pass computes again.

    Args:
        pred: raw predictions (N, d).
        index: (N,) rows of the table that are the targets.
        targets: the table; banned rows are never predicted and so are no negatives.
        scale: s, an inverse temperature.
        chunk_elements: the largest similarity matrix held at once; each different word of the batch is one column.

    Returns:
        (N,); zero where the batch has no other word.
    """
    e = at_least_float32(pred)
    words, place = index.unique(return_inverse=True)
    vectors = targets.table[words].to(e.dtype)
    never = targets.banned[words]
    rows = max(1, chunk_elements // max(1, words.numel()))
    parts = [
        checkpoint(_cross_entropy, *(part, vectors, own, scale, never), use_reentrant=False, preserve_rng_state=False)
        for part, own in zip(e.split(rows), place.unsqueeze(1).split(rows), strict=True)
    ]
    return torch.cat(parts)


def _cross_entropy(e: Tensor, vectors: Tensor, own: Tensor, scale: float, never: Tensor) -> Tensor:
    logits = scale * (unit_rows(e) @ vectors.t())
    target = logits.gather(1, own)
    logits = logits.masked_fill(never, -torch.inf).scatter(1, own, target)
    return logits.logsumexp(1) - target.squeeze(1)


class InfoNCELoss(TableLoss):
    """:func:`info_nce` as a module.

    Raises:
        ValueError: a scale that is not above 0.
    """

    def __init__(self, scale: float = 20.0, chunk_elements: int = 2**24, reduction: Reduction = "mean"):
        super().__init__(reduction)
        if not scale > 0:
            raise ValueError(f"info_nce needs a scale above 0, not {scale}")
        self.scale, self.chunk_elements = scale, chunk_elements

    def rows(self, pred: Tensor, index: Tensor, targets: FrozenTable) -> Rows:
        loss = info_nce(pred, index, targets, self.scale, self.chunk_elements)
        return Rows(loss, *cosine_and_norm(pred, targets(index)))
