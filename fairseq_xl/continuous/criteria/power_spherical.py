"""``--criterion power_spherical``: the likelihood of the power spherical distribution (De Cao & Aziz 2020)."""

from typing import Any

from fairseq_xl.continuous.criteria.criterion import ContinuousCriterion, ContinuousCriterionConfig, register
from fairseq_xl.losses import PowerSphericalLoss


@register("power_spherical", ContinuousCriterionConfig)
class PowerSpherical(ContinuousCriterion):
    """Negative log-likelihood of the target under the predicted power spherical distribution."""

    def __init__(self, task: Any, sentence_avg: bool):
        super().__init__(task, sentence_avg, PowerSphericalLoss())
