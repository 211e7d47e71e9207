"""``--criterion pair_classification``: log loss, and the scores that users of a classifier look at.

No ``from __future__ import annotations`` here: fairseq reads the options' types to build its parser.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
import torch.nn.functional as F
from fairseq.criterions import FairseqCriterion, register_criterion
from fairseq.dataclass import FairseqDataclass
from fairseq.logging import metrics
from torch import Tensor

from fairseq_xl.io.errors import InputError
from fairseq_xl.io.settings import option
from fairseq_xl.training.finite import check_finite

# Average precision needs all pairs at once. Its scores are therefore summed over batches and workers in so many bins.
BINS = 1000


@dataclass
class PairClassificationCriterionConfig(FairseqDataclass):
    positive_weight: float = option(
        "weight of a matching pair in the loss, where other pairs weigh 1. Lower it where fewer pairs match in the "
        "text to be judged than in training. The odds of a match there, divided by those in training, keep the "
        "probabilities true. Give more than 1 to find more of few matches, at the cost of false ones",
        1.0,
    )
    label_smoothing: float = option(
        "share of the label given to the other one: give some hundredths where labels are noisy", 0.0
    )
    divide_by_square: bool = option(
        "divide the gradient by the square of the number of pairs in the batch, as the corpus paper does, instead of "
        "by the number. No gradient is then ever large enough for --lr-scheduler halving",
        False,
    )


@register_criterion("pair_classification", dataclass=PairClassificationCriterionConfig)
class PairClassificationCriterion(FairseqCriterion):
    """The log loss of p("they mean the same"), in nats, summed over a batch's pairs.

    Validation logs the unweighted log loss and average precision (to a thousandth of probability). At p = 0.5 it logs
    accuracy, and precision, recall and F1 of the matching class.
    """

    def __init__(
        self, task: Any, positive_weight: float = 1.0, label_smoothing: float = 0.0, divide_by_square: bool = False
    ):
        super().__init__(task)
        if positive_weight <= 0:
            raise InputError(f"--positive-weight is a number above 0, not {positive_weight}")
        if not 0 <= label_smoothing < 1:
            raise InputError(f"--label-smoothing is a share below 1, not {label_smoothing}")
        self.positive_weight, self.label_smoothing = positive_weight, label_smoothing
        self.power = 2 if divide_by_square else 1

    def forward(self, model: Any, sample: dict[str, Any], reduce: bool = True) -> tuple[Tensor, Any, dict[str, Any]]:
        if "src_tokens" in sample["net_input"]:
            raise InputError("criterion pair_classification reads pairs of sentences: give --task pair_classification")
        if "target" not in sample:
            raise InputError("these pairs have no labels: train and validate on labelled ones")
        logits, target = model(**sample["net_input"]).float(), sample["target"]
        smoothed = target.float() * (1 - self.label_smoothing) + self.label_smoothing / 2
        rows = F.binary_cross_entropy_with_logits(logits, smoothed, reduction="none")
        weights = torch.where(target.bool(), self.positive_weight, 1.0)
        loss = (weights * rows).sum() if reduce else weights * rows
        if model.training:
            check_finite(loss, sample)
        with torch.no_grad():
            logged = {
                "loss": (weights * rows).sum().detach(),
                "log_loss": F.binary_cross_entropy_with_logits(logits, target.float(), reduction="sum"),
                "counts": _counts(logits, target),
                "ntokens": sample["ntokens"],
                "nsentences": sample["nsentences"],
                "sample_size": sample["nsentences"],
            }
            if not model.training:
                logged["bins"] = _bins(logits, target)
        return loss, sample["nsentences"] ** self.power, logged

    @classmethod
    def reduce_metrics(cls, logging_outputs: list[dict[str, Any]]) -> None:
        def total(key: str) -> float:
            return float(sum(log.get(key, 0) for log in logging_outputs))

        size = max(total("sample_size"), 1)
        metrics.log_scalar("loss", total("loss") / size, size, round=4)
        metrics.log_scalar("log_loss", total("log_loss") / size, size, round=4)
        counts = sum(log["counts"] for log in logging_outputs)
        metrics.log_scalar_sum("_counts", counts.double().cpu().numpy())
        for name in ("accuracy", "precision", "recall", "f1"):
            metrics.log_derived(name, lambda meters, name=name: _rates(meters["_counts"].sum)[name], 20)
        if any("bins" in log for log in logging_outputs):
            bins = sum(log["bins"] for log in logging_outputs if "bins" in log)
            metrics.log_scalar_sum("_bins", bins.double().cpu().numpy())
            metrics.log_derived(
                "average_precision", lambda meters: round(100 * average_precision(meters["_bins"].sum), 2), 20
            )

    @staticmethod
    def logging_outputs_can_be_summed() -> bool:
        return True


def _counts(logits: torch.Tensor, target: torch.Tensor) -> torch.Tensor:
    """(4,) true negatives, false positives, false negatives, true positives at p = 0.5."""
    return F.one_hot(2 * target + (logits > 0), 4).sum(0).float()


def _bins(logits: torch.Tensor, target: torch.Tensor) -> torch.Tensor:
    """(2, BINS) how many pairs of each label have which probability."""
    place = (logits.sigmoid() * BINS).long().clamp_max(BINS - 1)
    return torch.bincount(target * BINS + place, minlength=2 * BINS).view(2, BINS).float()


def _rates(counts: np.ndarray) -> dict[str, float]:
    """Percentages from the counts of :func:`_counts`."""
    negatives, false, missed, hits = counts
    rates = {
        "accuracy": (negatives + hits) / max(counts.sum(), 1),
        "precision": hits / max(hits + false, 1),
        "recall": hits / max(hits + missed, 1),
        "f1": 2 * hits / max(2 * hits + false + missed, 1),
    }
    return {name: round(100 * rate, 2) for name, rate in rates.items()}


def average_precision(bins: np.ndarray) -> float:
    """The mean precision over matching pairs, from counts (2, B) by label and rising score.

    Pairs of one bin count as equal: each threshold takes a whole bin, as scikit-learn takes equal scores.
    """
    said = bins[:, ::-1].cumsum(1)
    precision = said[1] / np.maximum(said.sum(0), 1)
    return float((precision * bins[1, ::-1]).sum() / max(bins[1].sum(), 1))
