"""The papers' losses under the names by which ``fairseq-train --criterion`` knows them.

No ``from __future__ import annotations`` here: fairseq reads the options' types to build its parser.
"""

from dataclasses import dataclass, field
from typing import Any

from fairseq.dataclass import ChoiceEnum
from torch import Tensor

from fairseq_xl.continuous.criteria.criterion import (
    ContinuousCriterion,
    ContinuousCriterionConfig,
    MarginConfig,
    SampledMarginCriterion,
    TargetOnlyCriterion,
    geometry,
    register,
)
from fairseq_xl.continuous.models.targets import TargetTable
from fairseq_xl.losses import losses, negatives
from fairseq_xl.training.presets import preset


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
        default=0.02, metadata={"help": "weight of the norm penalty: raise it when the logged kappa runs away"}
    )
    lambda2: float = field(default=0.1, metadata={"help": "weight of the dot product with the target"})


@preset
class DifferenceConfig(MarginConfig):
    """Its hinge ends at a cosine of 0.911, where the projection's with 0.5 does; with 0.5 it would at 0.809."""

    margin: float = 0.7


@preset
class NegativeSamplingConfig(MarginConfig):
    """A drawn word is about across both target and prediction: 0.5 would let go of them where they are 60° apart."""

    margin: float = 0.75
    negatives: int = field(default=5, metadata={"help": "uniform draws per target, averaged (the paper: 5)"})


@preset
class MostInformativeConfig(MarginConfig):
    """The best margin at beam 5 of 0.5, 0.75 and 1, tried on Multi30k's validation set."""

    margin: float = 0.75
    search_chunk: float = field(
        default=16.0,
        metadata={
            "help": "similarities held in memory at once, in millions (four bytes each): lower it when the search "
            "for negatives runs out of memory"
        },
    )


@register("vmf", VmfConfig)
class Vmf(TargetOnlyCriterion):
    """Negative log-likelihood of the target under the predicted von Mises-Fisher distribution, and its variants."""

    def __init__(self, task: Any, sentence_avg: bool, form: str, lambda1: float, lambda2: float):
        super().__init__(task, sentence_avg)
        self.kind = "vmf_released" if str(form) == "released" else "vmf"
        self.lambdas = (lambda1, lambda2)

    def rows(self, pred: Tensor, index: Tensor, targets: TargetTable) -> tuple[Tensor, dict[str, Tensor]]:
        return self.fused(self.kind, pred, index, targets, *self.lambdas)


@register("cosine", ContinuousCriterionConfig)
class Cosine(TargetOnlyCriterion):
    """1 − cos(û, u)."""

    def rows(self, pred: Tensor, index: Tensor, targets: TargetTable) -> tuple[Tensor, dict[str, Tensor]]:
        return self.fused("cosine", pred, index, targets)


@register("syn_margin_proj", MarginConfig)
class SynMarginProjection(TargetOnlyCriterion):
    """Hinge against the part of û orthogonal to u (Bhat et al. 2019); logs the share of rows it repels."""

    def __init__(self, task: Any, sentence_avg: bool, margin: float):
        super().__init__(task, sentence_avg)
        self.margin = margin

    def rows(self, pred: Tensor, index: Tensor, targets: TargetTable) -> tuple[Tensor, dict[str, Tensor]]:
        return self.fused("syn_margin_proj", pred, index, targets, self.margin)


@register("syn_margin_diff", DifferenceConfig)
class SynMarginDifference(TargetOnlyCriterion):
    """Hinge against the direction of û − u (Bhat et al. 2019)."""

    def __init__(self, task: Any, sentence_avg: bool, margin: float):
        super().__init__(task, sentence_avg)
        self.margin = margin

    def rows(self, pred: Tensor, index: Tensor, targets: TargetTable) -> tuple[Tensor, dict[str, Tensor]]:
        return self.fused("syn_margin_diff", pred, index, targets, self.margin)


@register("l2", ContinuousCriterionConfig)
class L2(ContinuousCriterion):
    """‖e − u‖² on the raw prediction."""

    def rows(self, pred: Tensor, index: Tensor, targets: TargetTable) -> tuple[Tensor, dict[str, Tensor]]:
        target = targets(index)
        return losses.l2(pred, target), geometry(pred, target)


@register("negative_sampling", NegativeSamplingConfig)
class NegativeSampling(SampledMarginCriterion):
    """Hinge averaged over k words drawn uniformly from the table, never the target."""

    def __init__(self, task: Any, sentence_avg: bool, margin: float, negatives: int):
        super().__init__(task, sentence_avg, margin)
        self.draws = negatives

    def negatives(self, pred: Tensor, index: Tensor, targets: TargetTable) -> Tensor:
        # The trainer seeds torch's global generator from --seed and the update, so draws survive a resume.
        return negatives.uniform_rows(targets.table, index, self.draws, candidates=targets.candidates())


@register("most_informative_negative", MostInformativeConfig)
class MostInformativeNegative(SampledMarginCriterion):
    """Hinge against the word whose vector is closest to û − u (Lazaridou et al. 2015)."""

    def __init__(self, task: Any, sentence_avg: bool, margin: float, search_chunk: float):
        super().__init__(task, sentence_avg, margin)
        self.chunk_elements = int(search_chunk * 1e6)

    def negatives(self, pred: Tensor, index: Tensor, targets: TargetTable) -> Tensor:
        rows = negatives.most_informative_rows(
            pred, targets(index), targets.table, index, targets.banned_rows(), self.chunk_elements
        )
        return rows.unsqueeze(1)
