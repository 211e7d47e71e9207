"""``upos_cross_entropy``: fairseq's cross-entropy, which in validation also counts right tags of each pair."""

from __future__ import annotations

from typing import Any

import torch
from fairseq.criterions import register_criterion
from fairseq.criterions.cross_entropy import CrossEntropyCriterion, CrossEntropyCriterionConfig
from torch import Tensor

from fairseq_xl.training.finite import check_finite

BY_PAIR = "by_pair/"
"""Begins the names of what is logged as one number for each pair: ``loss``, ``tokens``, ``correct`` (pairs,)."""


@register_criterion("upos_cross_entropy", dataclass=CrossEntropyCriterionConfig)
class UposCrossEntropy(CrossEntropyCriterion):
    """Cross-entropy, summed over tags. The task turns what it logs by pair into figures with names."""

    def __init__(self, task: Any, sentence_avg: bool):
        super().__init__(task, sentence_avg)
        self.pairs = len(task.pairs)

    def forward(self, model: Any, sample: dict[str, Any], reduce: bool = True) -> tuple[Tensor, Any, dict[str, Any]]:
        """As fairseq's; the sample also has ``pair`` (N,), the number of each sentence's pair."""
        net_output = model(**sample["net_input"])
        target = model.get_targets(sample, net_output)
        if model.training:
            loss, _ = self.compute_loss(model, net_output, sample, reduce=reduce)
            check_finite(loss, sample)
            by_pair = {}
        else:
            rows, _ = self.compute_loss(model, net_output, sample, reduce=False)
            loss = rows.sum() if reduce else rows
            is_tag = target.ne(self.padding_idx)
            correct = net_output[0].argmax(-1).eq(target) & is_tag
            counted = {"loss": rows.view_as(target), "tokens": is_tag, "correct": correct}
            by_pair = {
                BY_PAIR + name: torch.zeros(self.pairs, device=target.device).index_add_(
                    0, sample["pair"], values.sum(1).float()
                )
                for name, values in counted.items()
            }
        size = target.size(0) if self.sentence_avg else sample["ntokens"]
        logging_output = {
            "loss": loss.data.sum(),
            "ntokens": sample["ntokens"],
            "nsentences": target.size(0),
            "sample_size": size,
            **by_pair,
        }
        return loss, size, logging_output
