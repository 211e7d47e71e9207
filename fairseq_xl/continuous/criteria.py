"""The losses under the names by which ``fairseq-train --criterion`` knows them.

No ``from __future__ import annotations`` here: fairseq reads the options' types to build its parser.
"""

from dataclasses import dataclass, field
from typing import Any

import torch
from fairseq.criterions import FairseqCriterion, register_criterion
from fairseq.dataclass import ChoiceEnum, FairseqDataclass
from fairseq.logging import metrics
from omegaconf import II
from torch import Tensor

from fairseq_xl.continuous import losses, negatives, search
from fairseq_xl.continuous.fused import target_only
from fairseq_xl.continuous.sampled import sampled_margin
from fairseq_xl.continuous.targets import TargetTable
from fairseq_xl.errors import InputError
from fairseq_xl.faults import check_finite


@dataclass
class ContinuousCriterionConfig(FairseqDataclass):
    sentence_avg: bool = II("optimization.sentence_avg")


@dataclass
class VmfConfig(ContinuousCriterionConfig):
    form: ChoiceEnum(["paper", "released"]) = field(  # type: ignore[valid-type]
        default="paper",
        metadata={
            "help": "paper: -log C(k) - lambda2 e.u + lambda1 k (the default regularises as the 2019 paper does; "
            "--lambda1 0 --lambda2 1 is the plain likelihood, which the syn-margin paper compares with). "
            "released: -log C(k) + log(1 + k)(0.2 - cos), the loss of the 2019 paper's published code"
        },
    )
    lambda1: float = field(
        default=0.02,
        metadata={"help": "weight of the norm penalty: raise it when the logged kappa runs away"},
    )
    lambda2: float = field(
        default=0.1, metadata={"help": "weight of the dot product with the target"}
    )


@dataclass
class MarginConfig(ContinuousCriterionConfig):
    margin: float = field(
        default=0.5,
        metadata={
            "help": "by how much the target must be closer than the negative (cosines, so 0 to 2). Larger keeps more "
            "predictions under the hinge; watch the logged hinge share"
        },
    )


@dataclass
class NegativeSamplingConfig(MarginConfig):
    negatives: int = field(
        default=5, metadata={"help": "uniform draws per target, averaged (the paper: 5)"}
    )


@dataclass
class MostInformativeConfig(MarginConfig):
    search_chunk: float = field(
        default=16.0,
        metadata={
            "help": "similarities held in memory at once, in millions (four bytes each): lower it when the search "
            "for negatives runs out of memory"
        },
    )


class ContinuousCriterion(FairseqCriterion):
    """Mask padding, look up targets, sum a loss over tokens, and log what every continuous loss shares."""

    def __init__(self, task, sentence_avg: bool):
        super().__init__(task)
        self.sentence_avg = sentence_avg

    def rows(
        self, pred: Tensor, index: Tensor, targets: TargetTable
    ) -> tuple[Tensor, dict[str, Tensor]]:
        """Loss per row (N,), and sums to log beside it, from raw predictions (N, d) and target indices (N,).

        Every loss logs ``cosine`` and ``kappa``, of the predictions to their targets and in length.
        """
        raise NotImplementedError  # abstract: each subclass is one loss

    def forward(self, model, sample: dict[str, Any], reduce: bool = True):
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
                **{name: value.detach() for name, value in extra.items()},
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
        for key in ("cosine", "kappa"):
            metrics.log_scalar(key, total(key) / tokens, tokens, round=4)
        for key in ("hinge", "repelled"):
            if any(key in log for log in logging_outputs):
                metrics.log_scalar(key, total(key) / tokens, tokens, round=4)
        if any("n_correct" in log for log in logging_outputs):
            metrics.log_scalar("accuracy", 100 * total("n_correct") / tokens, tokens, round=3)

    @staticmethod
    def logging_outputs_can_be_summed() -> bool:
        return True


def register(name: str, dataclass: type[FairseqDataclass]):
    """``register_criterion`` that also tells the class its name, for messages."""

    def decorate(cls: type[ContinuousCriterion]) -> type[ContinuousCriterion]:
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


@register("vmf", VmfConfig)
class Vmf(TargetOnlyCriterion):
    """Negative log-likelihood of the target under the predicted von Mises-Fisher distribution, and its variants."""

    def __init__(self, task, sentence_avg: bool, form: str, lambda1: float, lambda2: float):
        super().__init__(task, sentence_avg)
        self.kind = "vmf_released" if str(form) == "released" else "vmf"
        self.lambdas = (lambda1, lambda2)

    def rows(self, pred, index, targets):
        return self.fused(self.kind, pred, index, targets, *self.lambdas)


@register("cosine", ContinuousCriterionConfig)
class Cosine(TargetOnlyCriterion):
    """1 − cos(û, u)."""

    def rows(self, pred, index, targets):
        return self.fused("cosine", pred, index, targets)


@register("syn_margin_proj", MarginConfig)
class SynMarginProjection(TargetOnlyCriterion):
    """Hinge against the part of û orthogonal to u (Bhat et al. 2019); logs the share of rows it repels."""

    def __init__(self, task, sentence_avg: bool, margin: float):
        super().__init__(task, sentence_avg)
        self.margin = margin

    def rows(self, pred, index, targets):
        return self.fused("syn_margin_proj", pred, index, targets, self.margin)


@register("syn_margin_diff", MarginConfig)
class SynMarginDifference(TargetOnlyCriterion):
    """Hinge against the direction of û − u (Bhat et al. 2019)."""

    def __init__(self, task, sentence_avg: bool, margin: float):
        super().__init__(task, sentence_avg)
        self.margin = margin

    def rows(self, pred, index, targets):
        return self.fused("syn_margin_diff", pred, index, targets, self.margin)


@register("l2", ContinuousCriterionConfig)
class L2(ContinuousCriterion):
    """‖e − u‖² on the raw prediction."""

    def rows(self, pred, index, targets):
        target = targets(index)
        return losses.l2(pred, target), _geometry(pred, target)


class SampledMarginCriterion(ContinuousCriterion):
    """A hinge against words of the table; logs the share of rows where it is active."""

    def __init__(self, task, sentence_avg: bool, margin: float):
        super().__init__(task, sentence_avg)
        self.margin = margin

    def negatives(self, pred: Tensor, index: Tensor, targets: TargetTable) -> Tensor:
        """Rows of the table (N, k) to stay away from."""
        raise NotImplementedError  # abstract: each subclass is one source of negatives

    def rows(self, pred, index, targets):
        chosen = self.negatives(pred, index, targets)
        loss, cosine, kappa = sampled_margin(pred, targets.table, index, chosen, self.margin)
        return loss, {"hinge": (loss > 0).sum(), "cosine": cosine.sum(), "kappa": kappa.sum()}


@register("negative_sampling", NegativeSamplingConfig)
class NegativeSampling(SampledMarginCriterion):
    """Hinge averaged over k words drawn uniformly from the table, never the target."""

    def __init__(self, task, sentence_avg: bool, margin: float, negatives: int):
        super().__init__(task, sentence_avg, margin)
        self.draws = negatives

    def negatives(self, pred, index, targets):
        # The trainer seeds torch's global generator from --seed and the update, so draws survive a resume.
        return negatives.uniform_rows(
            targets.table, index, self.draws, candidates=targets.candidates()
        )


@register("most_informative_negative", MostInformativeConfig)
class MostInformativeNegative(SampledMarginCriterion):
    """Hinge against the word whose vector is closest to û − u (Lazaridou et al. 2015)."""

    def __init__(self, task, sentence_avg: bool, margin: float, search_chunk: float):
        super().__init__(task, sentence_avg, margin)
        self.chunk_elements = int(search_chunk * 1e6)

    def negatives(self, pred, index, targets):
        rows = negatives.most_informative_rows(
            pred,
            targets(index),
            targets.table,
            index,
            targets.banned_rows(),
            self.chunk_elements,
        )
        return rows.unsqueeze(1)


@torch.no_grad()
def _geometry(pred: Tensor, target: Tensor) -> dict[str, Tensor]:
    kappa = torch.linalg.vector_norm(pred, dim=-1)
    cosine = (pred * target).sum(-1) / kappa.clamp_min(1e-30)
    return {"cosine": cosine.sum(), "kappa": kappa.sum()}
