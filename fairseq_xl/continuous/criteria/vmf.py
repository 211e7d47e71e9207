"""``--criterion vmf``: the likelihood of the target under the predicted von Mises-Fisher distribution.

No ``from __future__ import annotations`` here: fairseq reads the options' types to build its parser.
"""

from dataclasses import dataclass
from typing import Any

from fairseq.dataclass import ChoiceEnum

from fairseq_xl.continuous.criteria.criterion import ContinuousCriterion, ContinuousCriterionConfig, register
from fairseq_xl.io.errors import InputError
from fairseq_xl.io.settings import option
from fairseq_xl.losses import VmfLoss, VmfReleasedLoss


@dataclass
class VmfConfig(ContinuousCriterionConfig):
    form: ChoiceEnum(["paper", "released"]) = option(  # type: ignore[valid-type]
        "which loss to use. Choose paper for the formula -log C(k) - lambda2 e.u + lambda1 k. Its defaults regularise "
        "as the 2019 paper does. Give --lambda1 0 --lambda2 1 for the plain likelihood of the syn-margin paper's "
        "comparison. Choose released for the loss of the 2019 paper's published code, -log C(k) + log(1 + k)(0.2 - "
        "cos)",
        "paper",
    )
    lambda1: float = option("weight of the norm penalty: raise it when the logged kappa runs away", 0.02)
    lambda2: float = option("weight of the dot product with the target", 0.1)


@register("vmf", VmfConfig)
class Vmf(ContinuousCriterion):
    """Negative log-likelihood of the target under the predicted von Mises-Fisher distribution, and its variants.

    Raises:
        InputError: weights for the released form, which has none.
    """

    def __init__(self, task: Any, sentence_avg: bool, form: str, lambda1: float, lambda2: float):
        usual = VmfConfig()
        if str(form) == "released" and (lambda1, lambda2) != (usual.lambda1, usual.lambda2):
            raise InputError("--form released has no weights: leave out --lambda1 and --lambda2")
        loss = VmfReleasedLoss() if str(form) == "released" else VmfLoss(lambda1, lambda2)
        super().__init__(task, sentence_avg, loss)
