"""What every continuous loss shares: masks, sums, logs, and validation; a loss is one method, ``rows``.

No ``from __future__ import annotations`` here: fairseq reads the options' types to build its parser.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, TypeVar

import torch
from fairseq.criterions import FairseqCriterion, register_criterion
from fairseq.dataclass import FairseqDataclass
from fairseq.logging import metrics
from omegaconf import II
from torch import Tensor

from fairseq_xl.continuous.models.targets import TargetTable
from fairseq_xl.io.errors import InputError
from fairseq_xl.losses import search
from fairseq_xl.losses.fused import target_only
from fairseq_xl.losses.sampled import sampled_margin
from fairseq_xl.training.finite import check_finite

PER_WORD = "per_word/"
"""Begins the names of what a loss logs, among what the trainer and the task log in the same dictionary."""


@dataclass
class ContinuousCriterionConfig(FairseqDataclass):
    sentence_avg: bool = II("optimization.sentence_avg")


@dataclass
class MarginConfig(ContinuousCriterionConfig):
    margin: float = field(
        default=0.5,
        metadata={
            "help": "by how much the target must be closer than the negative (cosines, so 0 to 2). Larger keeps more "
            "predictions under the hinge; watch the logged hinge share. How near to the target the hinge lets go "
            "depends on the negative, and with it each loss's default"
        },
    )


class ContinuousCriterion(FairseqCriterion):
    """Mask padding, look up targets, sum a loss over tokens, and log what every continuous loss shares."""

    def __init__(self, task: Any, sentence_avg: bool):
        super().__init__(task)
        self.sentence_avg = sentence_avg

    def rows(self, pred: Tensor, index: Tensor, targets: TargetTable) -> tuple[Tensor, dict[str, Tensor]]:
        """Loss per row (N,), and sums to log beside it, from raw predictions (N, d) and target indices (N,).

        Each sum is logged under its name as a mean per target word. Every loss logs ``cosine`` and ``kappa``, of
        the predictions to their targets and in length.
        """
        raise NotImplementedError  # abstract: each subclass is one loss

    def forward(self, model: Any, sample: dict[str, Any], reduce: bool = True) -> tuple[Tensor, Any, dict[str, Any]]:
        targets = getattr(getattr(model, "decoder", None), "targets", None)
        if targets is None or model.decoder.output_kind != "continuous":
            raise InputError(
                f"criterion {self.name} trains predicted vectors, but this model has a softmax output: use "
                "--arch continuous_lstm or continuous_transformer with --decoder-output continuous, or --criterion "
                "cross_entropy"
            )
        pred, _ = model(**sample["net_input"])
        index = model.get_targets(sample, None)
        is_word = index.ne(self.padding_idx)
        pred, index = pred[is_word].float(), index[is_word]
        # With --amp matrix products would be in half precision, in which near words are equally near.
        with torch.autocast(pred.device.type, enabled=False):
            loss_rows, extra = self.rows(pred, index, targets)
        loss = loss_rows.sum() if reduce else loss_rows
        if model.training:
            check_finite(loss, sample)
        with torch.no_grad():
            logging_output = {
                "loss": loss_rows.detach().sum(),
                "ntokens": sample["ntokens"],
                "nsentences": sample["target"].size(0),
                "sample_size": sample["target"].size(0) if self.sentence_avg else sample["ntokens"],
                **{PER_WORD + name: value.detach() for name, value in extra.items()},
            }
            if not model.training:
                _, found = search.nearest(pred, targets.table, targets.banned)
                logging_output["n_correct"] = (found.squeeze(-1) == index).sum()
        return loss, logging_output["sample_size"], logging_output

    @property
    def name(self) -> str:
        return type(self).registered_name

    @classmethod
    def reduce_metrics(cls, logging_outputs: list[dict[str, Any]]) -> None:
        def total(key: str) -> float:
            return float(sum(log.get(key, 0) for log in logging_outputs))

        tokens = max(total("ntokens"), 1)
        size = max(total("sample_size"), 1)
        metrics.log_scalar("loss", total("loss") / size, size, round=4)
        keys = dict.fromkeys(key for log in logging_outputs for key in log)
        for key in filter(lambda key: key.startswith(PER_WORD), keys):
            metrics.log_scalar(key.removeprefix(PER_WORD), total(key) / tokens, tokens, round=4)
        if "n_correct" in keys:
            metrics.log_scalar("accuracy", 100 * total("n_correct") / tokens, tokens, round=3)

    @staticmethod
    def logging_outputs_can_be_summed() -> bool:
        return True


Made = TypeVar("Made", bound="type[ContinuousCriterion]")


def register(name: str, dataclass: type[FairseqDataclass]) -> Callable[[Made], Made]:
    """``register_criterion`` that also tells the class its name, for messages."""

    def decorate(cls: Made) -> Made:
        cls.registered_name = name
        return register_criterion(name, dataclass=dataclass)(cls)

    return decorate


class TargetOnlyCriterion(ContinuousCriterion):
    """A loss that needs no negative from the table: computed by ``fused.py``."""

    def fused(
        self, kind: str, pred: Tensor, index: Tensor, targets: TargetTable, *parameters: float
    ) -> tuple[Tensor, dict[str, Tensor]]:
        loss, cosine, kappa = target_only(kind, pred, targets.table, index, *parameters)
        logged = {"cosine": cosine.sum(), "kappa": kappa.sum()}
        if kind.startswith("syn_margin"):
            logged["hinge"] = (loss > 0).sum()
        if kind == "syn_margin_proj":
            logged["repelled"] = (cosine < -(0.5**0.5)).sum()
        return loss, logged


class SampledMarginCriterion(ContinuousCriterion):
    """A hinge against words of the table; logs the share of rows where it is active."""

    def __init__(self, task: Any, sentence_avg: bool, margin: float):
        super().__init__(task, sentence_avg)
        self.margin = margin

    def negatives(self, pred: Tensor, index: Tensor, targets: TargetTable) -> Tensor:
        """Rows of the table (N, k) to stay away from."""
        raise NotImplementedError  # abstract: each subclass is one source of negatives

    def rows(self, pred: Tensor, index: Tensor, targets: TargetTable) -> tuple[Tensor, dict[str, Tensor]]:
        chosen = self.negatives(pred, index, targets)
        loss, cosine, kappa = sampled_margin(pred, targets.table, index, chosen, self.margin)
        return loss, {"hinge": (loss > 0).sum(), "cosine": cosine.sum(), "kappa": kappa.sum()}


@torch.no_grad()
def geometry(pred: Tensor, target: Tensor) -> dict[str, Tensor]:
    """The sums ``cosine`` and ``kappa`` of raw predictions (N, d) to unit targets (N, d)."""
    kappa = torch.linalg.vector_norm(pred, dim=-1)
    cosine = (pred * target).sum(-1) / kappa.clamp_min(1e-30)
    return {"cosine": cosine.sum(), "kappa": kappa.sum()}
