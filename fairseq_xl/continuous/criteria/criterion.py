"""What every continuous criterion shares: masks, sums, logs, and validation. The loss is a module of ``losses``.

No ``from __future__ import annotations`` here: fairseq reads the options' types to build its parser.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeVar

import torch
from fairseq.criterions import FairseqCriterion, register_criterion
from fairseq.dataclass import FairseqDataclass
from fairseq.logging import metrics
from omegaconf import II
from torch import Tensor

from fairseq_xl.continuous.models.targets import TargetTable
from fairseq_xl.io.errors import InputError
from fairseq_xl.losses import VectorLoss, best_words
from fairseq_xl.losses.closed_form import kernels_setting
from fairseq_xl.training.finite import check_finite

PER_WORD = "per_word/"
"""The prefix of what a loss logs. The trainer and the task log in the same dictionary."""


@dataclass
class ContinuousCriterionConfig(FairseqDataclass):
    sentence_avg: bool = II("optimization.sentence_avg")


class ContinuousCriterion(FairseqCriterion):
    """Mask padding, look up targets, sum a loss over tokens, and log what every continuous loss shares.

    Args:
        task: the task, whose padding is masked.
        sentence_avg: divide gradients by the number of sentences, not of tokens.
        loss: the loss, which gives one value per row.

    Raises:
        InputError: ``FAIRSEQ_XL_KERNELS`` is set to something unknown.
    """

    def __init__(self, task: Any, sentence_avg: bool, loss: VectorLoss | None = None):
        super().__init__(task)
        self.sentence_avg = sentence_avg
        self.loss = loss
        try:
            kernels_setting()
        except ValueError as error:
            raise InputError(str(error)) from error

    def rows(self, pred: Tensor, index: Tensor, targets: TargetTable) -> tuple[Tensor, dict[str, Tensor]]:
        """Loss per row (N,), and sums to log beside it, from raw predictions (N, d) and target indices (N,).

        Each sum is logged under its name as a mean per target word.
        """
        assert self.loss is not None
        found = self.loss.rows(pred, index, targets)
        return found.loss, {name: figures.sum() for name, figures in self.loss.diagnostics(found).items()}

    def forward(self, model: Any, sample: dict[str, Any], reduce: bool = True) -> tuple[Tensor, Any, dict[str, Any]]:
        targets = getattr(getattr(model, "decoder", None), "targets", None)
        if targets is None or model.decoder.output_kind != "continuous":
            raise InputError(
                f"criterion {self.name} trains predicted vectors, and this model predicts none. For translation use "
                "--arch continuous_lstm or continuous_transformer with --decoder-output continuous. A softmax trains "
                "by --criterion cross_entropy"
            )
        if targets.bias is not None and not self.learns_bias:
            raise InputError(f"criterion {self.name} does not learn the words' biases: leave out --word-bias")
        pred, _ = model(**sample["net_input"])
        index = model.get_targets(sample, None)
        is_word = index.ne(self.padding_idx)
        pred = pred[is_word].float()
        index = targets.as_predicted(index[is_word], self.task.target_dictionary.unk())
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
                logging_output["n_correct"] = (best_words(pred, targets) == index).sum()
        return loss, logging_output["sample_size"], logging_output

    @property
    def learns_bias(self) -> bool:
        """Whether the loss reads the table's ``bias``."""
        return self.loss is not None and self.loss.learns_bias

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
