"""``--criterion cosine`` and ``l2``: the distances between prediction and target."""

from typing import Any

from fairseq_xl.continuous.criteria.criterion import ContinuousCriterion, ContinuousCriterionConfig, register
from fairseq_xl.losses import CosineLoss, L2Loss


@register("cosine", ContinuousCriterionConfig)
class Cosine(ContinuousCriterion):
    """1 − cos(û, u)."""

    def __init__(self, task: Any, sentence_avg: bool):
        super().__init__(task, sentence_avg, CosineLoss())


@register("l2", ContinuousCriterionConfig)
class L2(ContinuousCriterion):
    """‖e − u‖² on the raw prediction."""

    def __init__(self, task: Any, sentence_avg: bool):
        super().__init__(task, sentence_avg, L2Loss())
