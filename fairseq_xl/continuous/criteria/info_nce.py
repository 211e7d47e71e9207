"""``--criterion info_nce``: the target against every other word of the batch (van den Oord et al. 2018).

No ``from __future__ import annotations`` here: fairseq reads the options' types to build its parser.
"""

from dataclasses import dataclass, field
from typing import Any

import torch
from torch import Tensor
from torch.utils.checkpoint import checkpoint

from fairseq_xl.continuous.criteria.criterion import ContinuousCriterion, ContinuousCriterionConfig, geometry, register
from fairseq_xl.continuous.models.targets import TargetTable
from fairseq_xl.io.errors import InputError
from fairseq_xl.losses.fused import at_least_float32
from fairseq_xl.losses.losses import unit_rows


def info_nce(
    pred: Tensor, table: Tensor, index: Tensor, scale: float, banned: Tensor | None = None, chunk_elements: int = 2**24
) -> Tensor:
    """−log exp(s·ûᵀu) / Σ_j exp(s·ûᵀu_j) over the different targets u_j of the batch (equation 4, with cosines).

    A word that is the target of several rows is counted once, so no row has its own target as a negative. The table
    is constant. Memory is that of a chunk of similarities, which the backward pass computes again.

    Args:
        pred: raw predictions (N, d).
        table: unit rows (V, d).
        index: (N,) rows of the table that are the targets.
        scale: s, an inverse temperature.
        banned: (V,) bool, rows that are never predicted and so are no negatives.
        chunk_elements: the largest similarity matrix held at once; each different word of the batch is one column.

    Returns:
        (N,); zero where the batch has no other word.
    """
    e = at_least_float32(pred)
    words, place = index.unique(return_inverse=True)
    vectors = table[words].to(e.dtype)
    never = None if banned is None else banned[words]
    rows = max(1, chunk_elements // max(1, words.numel()))
    parts = [
        checkpoint(_cross_entropy, *(part, vectors, own, scale, never), use_reentrant=False, preserve_rng_state=False)
        for part, own in zip(e.split(rows), place.unsqueeze(1).split(rows), strict=True)
    ]
    return torch.cat(parts)


def _cross_entropy(e: Tensor, vectors: Tensor, own: Tensor, scale: float, never: Tensor | None) -> Tensor:
    logits = scale * (unit_rows(e) @ vectors.t())
    target = logits.gather(1, own)
    if never is not None:
        logits = logits.masked_fill(never, -torch.inf).scatter(1, own, target)
    return logits.logsumexp(1) - target.squeeze(1)


@dataclass
class InfoNCEConfig(ContinuousCriterionConfig):
    scale: float = field(
        default=20.0,
        metadata={
            "help": "what cosines are multiplied by, an inverse temperature: larger makes the loss look at the "
            "nearest negatives only. The default is that of --decode-scale"
        },
    )


@register("info_nce", InfoNCEConfig)
class InfoNCE(ContinuousCriterion):
    """Cross-entropy over the words of the batch.

    The batch is one worker's, so the loss depends on how sentences are batched: compare models by accuracy.
    """

    def __init__(self, task: Any, sentence_avg: bool, scale: float):
        super().__init__(task, sentence_avg)
        if not scale > 0:
            raise InputError(f"--scale is {scale}: info_nce needs a number above 0")
        self.scale = scale

    def rows(self, pred: Tensor, index: Tensor, targets: TargetTable) -> tuple[Tensor, dict[str, Tensor]]:
        loss = info_nce(pred, targets.table, index, self.scale, targets.banned)
        return loss, geometry(pred, targets(index))
