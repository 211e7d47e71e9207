"""``--criterion info_nce``: the target against every other word of the batch (van den Oord et al. 2018).

No ``from __future__ import annotations`` here: fairseq reads the options' types to build its parser.
"""

from dataclasses import dataclass
from typing import Any

from fairseq_xl.continuous.criteria.criterion import ContinuousCriterion, ContinuousCriterionConfig, register
from fairseq_xl.io.errors import InputError
from fairseq_xl.io.settings import option
from fairseq_xl.losses import InfoNCELoss


@dataclass
class InfoNCEConfig(ContinuousCriterionConfig):
    scale: float = option(
        "what cosines are multiplied by, an inverse temperature: larger makes the loss look at the "
        "nearest negatives only. The default is that of --decode-scale",
        20.0,
    )


@register("info_nce", InfoNCEConfig)
class InfoNCE(ContinuousCriterion):
    """Cross-entropy over the words of the batch.

    The batch is one worker's, so the loss depends on how sentences are batched: compare models by accuracy.
    """

    def __init__(self, task: Any, sentence_avg: bool, scale: float):
        if not scale > 0:
            raise InputError(f"--scale is {scale}: info_nce needs a number above 0")
        super().__init__(task, sentence_avg, InfoNCELoss(scale))
