"""``upos_cross_entropy``: fairseq's cross-entropy, which in validation also counts right tags of each pair.

No ``from __future__ import annotations`` here: fairseq reads the fields' types to build its parser.
"""

from dataclasses import dataclass
from typing import Any

import torch
from fairseq.criterions import register_criterion
from fairseq.criterions.cross_entropy import CrossEntropyCriterion, CrossEntropyCriterionConfig
from fairseq.logging import metrics
from torch import Tensor

from fairseq_xl.io.errors import InputError
from fairseq_xl.io.settings import option
from fairseq_xl.syntactic.models.contrast import tag_contrast, tag_similarity
from fairseq_xl.training.finite import check_finite

BY_PAIR = "by_pair/"
"""Begins the names of what is logged as one number for each pair: ``loss``, ``tokens``, ``correct`` (pairs,)."""
CONTRAST = "tag_contrast"
"""Name under which training logs its contrastive loss, before its weight."""


@dataclass
class UposCrossEntropyConfig(CrossEntropyCriterionConfig):
    tag_contrast: float = option(
        "weight of a contrastive loss beside the cross-entropy; 0: none, as in the paper. It brings sentences of a "
        "batch as near each other as the tags to be predicted are alike. Raise it for nearest neighbours",
        0.0,
    )
    tag_contrast_temperature: float = option("its temperature; lower it where only the nearest should count", 0.1)


@register_criterion("upos_cross_entropy", dataclass=UposCrossEntropyConfig)
class UposCrossEntropy(CrossEntropyCriterion):
    """Cross-entropy, summed over tags. The task turns what it logs by pair into figures with names."""

    def __init__(self, task: Any, sentence_avg: bool, tag_contrast: float = 0.0, tag_contrast_temperature: float = 0.1):
        """Raises: InputError: a weight below 0, or a temperature that is not above 0."""
        super().__init__(task, sentence_avg)
        if not tag_contrast >= 0:
            raise InputError(f"--tag-contrast is {tag_contrast}: give a number of 0 or more")
        if not tag_contrast_temperature > 0:
            raise InputError(f"--tag-contrast-temperature is {tag_contrast_temperature}: give a number above 0")
        self.pairs = len(task.pairs)
        if tag_contrast_temperature != 0.1 and not tag_contrast:
            raise InputError("--tag-contrast-temperature has no effect without --tag-contrast: leave it out")
        self.contrast, self.temperature = tag_contrast, tag_contrast_temperature

    def forward(self, model: Any, sample: dict[str, Any], reduce: bool = True) -> tuple[Tensor, Any, dict[str, Any]]:
        """As fairseq's; the sample also has ``pair`` (N,), the number of each sentence's pair."""
        net_output = model(**sample["net_input"])
        target = model.get_targets(sample, net_output)
        size = target.size(0) if self.sentence_avg else sample["ntokens"]
        if model.training:
            loss, _ = self.compute_loss(model, net_output, sample, reduce=reduce)
            beside = {}
            if self.contrast:
                start = sample["net_input"]["prev_output_tokens"][:, :1]
                similarity = tag_similarity(torch.cat([start, target], 1), self.padding_idx)
                apart = tag_contrast(net_output[1]["pooled"], similarity, self.temperature)
                # The cross-entropy is a sum over tags, or over sentences' tags, which is divided by the size.
                loss = loss + self.contrast * size * apart
                beside = {CONTRAST: apart.detach() * size}
            check_finite(loss, sample)
        else:
            rows, _ = self.compute_loss(model, net_output, sample, reduce=False)
            loss = rows.sum() if reduce else rows
            is_tag = target.ne(self.padding_idx)
            correct = net_output[0].argmax(-1).eq(target) & is_tag
            counted = {"loss": rows.view_as(target), "tokens": is_tag, "correct": correct}
            beside = {
                BY_PAIR + name: torch.zeros(self.pairs, device=target.device).index_add_(
                    0, sample["pair"], values.sum(1).float()
                )
                for name, values in counted.items()
            }
        logging_output = {
            "loss": loss.data.sum(),
            "ntokens": sample["ntokens"],
            "nsentences": target.size(0),
            "sample_size": size,
            **beside,
        }
        return loss, size, logging_output

    @classmethod
    def reduce_metrics(cls, logging_outputs: list[dict[str, Any]]) -> None:
        """As fairseq's, and the contrastive loss of training, which is part of its loss."""
        super().reduce_metrics(logging_outputs)
        apart = sum(log.get(CONTRAST, 0) for log in logging_outputs)
        if any(CONTRAST in log for log in logging_outputs):
            size = sum(log["sample_size"] for log in logging_outputs)
            metrics.log_scalar(CONTRAST, apart / size, size, round=4)
