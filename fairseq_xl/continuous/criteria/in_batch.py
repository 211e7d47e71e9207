"""``--criterion in_batch_negative``: a hinge against the target of another row of the batch.

No ``from __future__ import annotations`` here: fairseq reads the options' types to build its parser.
"""

from dataclasses import dataclass, field
from typing import Any

import torch
from fairseq.dataclass import ChoiceEnum
from torch import Tensor

from fairseq_xl.continuous.criteria.criterion import ContinuousCriterion, MarginConfig, register
from fairseq_xl.continuous.models.targets import TargetTable
from fairseq_xl.losses.fused import Rows, at_least_float32
from fairseq_xl.losses.losses import unit_rows
from fairseq_xl.losses.sampled import sampled_margin


@torch.no_grad()
def in_batch_rows(
    pred: Tensor,
    table: Tensor,
    index: Tensor,
    semi_hard: bool,
    banned: Tensor | None = None,
    chunk_elements: int = 2**24,
) -> Tensor:
    """A negative for each row among the targets of all rows, never a word equal to the row's own target.

    The hardest is the word nearest to û. The semi-hard one is the nearest of those farther from û than the target
    is (Schroff et al. 2015, section 3.2). The paper leaves open what happens where every other word is nearer than
    the target: some implementations then drop the row, which would leave the worst predictions without a gradient.
    Here it is the farthest, the word that comes closest to being semi-hard, as in TensorFlow's
    ``triplet_semihard_loss``.

    Args:
        pred: raw predictions (N, d).
        table: unit rows (V, d).
        index: (N,) rows of the table that are the targets.
        semi_hard: which of the two.
        banned: (V,) bool, rows that are never predicted and so are no negatives.
        chunk_elements: the largest similarity matrix held at once; each different word of the batch is one column.

    Returns:
        (N,) rows of the table; the target itself where the batch has no other word.
    """
    if not index.numel():
        return index
    unit = unit_rows(at_least_float32(pred))
    words, place = index.unique(return_inverse=True)
    vectors = table[words].to(unit.dtype)
    rows = max(1, chunk_elements // words.numel())
    chosen = []
    for part, own in zip(unit.split(rows), place.unsqueeze(1).split(rows), strict=True):
        similarity = part @ vectors.t()
        to_target = similarity.gather(1, own)
        similarity.scatter_(1, own, -torch.inf)
        if banned is not None:
            similarity.masked_fill_(banned[words], -torch.inf)
        hardest = similarity.max(1)
        best = hardest.indices
        if semi_hard:
            farther = similarity.masked_fill(similarity >= to_target, -torch.inf).max(1)
            farthest = similarity.masked_fill(similarity == -torch.inf, torch.inf).min(1)
            best = torch.where(farther.values > -torch.inf, farther.indices, farthest.indices)
        chosen.append(torch.where(hardest.values > -torch.inf, best, own.squeeze(1)))
    return words[torch.cat(chosen)]


def in_batch_margin(
    pred: Tensor, table: Tensor, index: Tensor, margin: float, semi_hard: bool, banned: Tensor | None = None
) -> Rows:
    """max(0, λ + u'ᵀû − uᵀû) against the negative u' of :func:`in_batch_rows`, a constant; arguments as there.

    Zero where there is no negative.
    """
    chosen = in_batch_rows(pred, table, index, semi_hard, banned)
    found = sampled_margin(pred, table, index, chosen.unsqueeze(1), margin)
    return found._replace(loss=found.loss.masked_fill(chosen == index, 0))


@dataclass
class InBatchConfig(MarginConfig):
    negative: ChoiceEnum(["hardest", "semi_hard"]) = field(  # type: ignore[valid-type]
        default="hardest",
        metadata={
            "help": "which target of the batch a prediction is held away from: the nearest (hardest), or the nearest "
            "of those farther than its own target (semi_hard), which is gentler while predictions are still poor"
        },
    )


@register("in_batch_negative", InBatchConfig)
class InBatchNegative(ContinuousCriterion):
    """A hinge against another target of the batch; logs the share of rows where it is active.

    The batch is one worker's, so the loss depends on how sentences are batched: compare models by accuracy.
    """

    def __init__(self, task: Any, sentence_avg: bool, margin: float, negative: str):
        super().__init__(task, sentence_avg)
        self.margin = margin
        self.semi_hard = str(negative) == "semi_hard"

    def rows(self, pred: Tensor, index: Tensor, targets: TargetTable) -> tuple[Tensor, dict[str, Tensor]]:
        loss, cosine, kappa = in_batch_margin(pred, targets.table, index, self.margin, self.semi_hard, targets.banned)
        return loss, {"hinge": (loss > 0).sum(), "cosine": cosine.sum(), "kappa": kappa.sum()}
