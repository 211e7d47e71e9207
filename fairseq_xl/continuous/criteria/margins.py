"""The margin losses: ``--criterion syn_margin_proj``, ``syn_margin_diff``, and those against words of the table.

No ``from __future__ import annotations`` here: fairseq reads the options' types to build its parser.
"""

from dataclasses import dataclass
from typing import Any

from fairseq.dataclass import ChoiceEnum

from fairseq_xl.continuous.criteria.criterion import ContinuousCriterion, ContinuousCriterionConfig, register
from fairseq_xl.io.errors import InputError
from fairseq_xl.io.settings import option
from fairseq_xl.losses import (
    InBatchLoss,
    MostInformativeLoss,
    NegativeSamplingLoss,
    SynMarginDiffLoss,
    SynMarginProjLoss,
)
from fairseq_xl.training.presets import preset


@dataclass
class MarginConfig(ContinuousCriterionConfig):
    margin: float = option(
        "by how much the target must be closer than the negative (cosines, so 0 to 2). A larger margin keeps more "
        "predictions under the hinge: watch the logged hinge share. The negative decides how near to the target the "
        "hinge ends. Each loss therefore has its own default",
        0.5,
    )


@preset
class DifferenceConfig(MarginConfig):
    """The hinge ends at a cosine of 0.911, as the projection's does with 0.5. With 0.5 it would end at 0.809."""

    margin: float = 0.7


@preset
class NegativeSamplingConfig(MarginConfig):
    """A sampled word is nearly orthogonal to target and prediction: with 0.5 the hinge would end where these are 60°
    apart."""

    margin: float = 0.75
    negatives: int = option("uniform draws per target, averaged (the paper: 5)", 5)


@preset
class MostInformativeConfig(MarginConfig):
    """The best margin at beam 5 of 0.5, 0.75 and 1, tried on Multi30k's validation set."""

    margin: float = 0.75
    search_chunk: float = option(
        "similarities held in memory at once, in millions (four bytes each): lower it when the search "
        "for negatives runs out of memory",
        16.0,
    )


@dataclass
class InBatchConfig(MarginConfig):
    negative: ChoiceEnum(["hardest", "semi_hard"]) = option(  # type: ignore[valid-type]
        "which target of the batch is the negative. Choose hardest for the nearest to the prediction. Choose semi_hard "
        "for the nearest of those farther than its own target. It is gentler while predictions are still poor",
        "hardest",
    )


@register("syn_margin_proj", MarginConfig)
class SynMarginProj(ContinuousCriterion):
    """Hinge against the part of û orthogonal to u (Bhat et al. 2019). It logs the share of rows it repels."""

    def __init__(self, task: Any, sentence_avg: bool, margin: float):
        super().__init__(task, sentence_avg, SynMarginProjLoss(margin))


@register("syn_margin_diff", DifferenceConfig)
class SynMarginDiff(ContinuousCriterion):
    """Hinge against the direction of û − u (Bhat et al. 2019)."""

    def __init__(self, task: Any, sentence_avg: bool, margin: float):
        super().__init__(task, sentence_avg, SynMarginDiffLoss(margin))


@register("negative_sampling", NegativeSamplingConfig)
class NegativeSampling(ContinuousCriterion):
    """Hinge averaged over k negatives sampled uniformly, never the target.

    Raises:
        InputError: no negatives.
    """

    def __init__(self, task: Any, sentence_avg: bool, margin: float, negatives: int):
        # The trainer seeds torch's global generator from --seed and the update, so draws survive a resume.
        try:
            loss = NegativeSamplingLoss(margin, negatives)
        except ValueError as error:
            raise InputError(f"--criterion negative_sampling: {error}") from None
        super().__init__(task, sentence_avg, loss)


@register("most_informative_negative", MostInformativeConfig)
class MostInformativeNegative(ContinuousCriterion):
    """Hinge against the word whose vector is closest to û − u (Lazaridou et al. 2015).

    Raises:
        InputError: no room for similarities.
    """

    def __init__(self, task: Any, sentence_avg: bool, margin: float, search_chunk: float):
        if not 0 < search_chunk < float("inf"):
            raise InputError(f"--search-chunk is {search_chunk:g}: give a number of millions above 0")
        super().__init__(task, sentence_avg, MostInformativeLoss(margin, int(search_chunk * 1e6)))


@register("in_batch_negative", InBatchConfig)
class InBatchNegative(ContinuousCriterion):
    """A hinge against another target of the batch.

    The batch is one worker's, so the loss depends on how sentences are batched: compare models by accuracy.
    """

    def __init__(self, task: Any, sentence_avg: bool, margin: float, negative: str):
        super().__init__(task, sentence_avg, InBatchLoss(margin, semi_hard=str(negative) == "semi_hard"))
