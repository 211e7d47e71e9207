"""``--criterion combined``: a weighted sum of two continuous losses.

No ``from __future__ import annotations`` here: fairseq reads the options' types to build its parser.
"""

from dataclasses import dataclass
from typing import Any

from omegaconf import MISSING
from torch import Tensor

from fairseq_xl.continuous.criteria.criterion import ContinuousCriterionConfig, register
from fairseq_xl.continuous.criteria.mixture import Mixture, nested_criterion
from fairseq_xl.continuous.models.targets import TargetTable
from fairseq_xl.io.errors import InputError
from fairseq_xl.io.settings import option


@dataclass
class CombinedConfig(ContinuousCriterionConfig):
    main_loss: str = option("loss of weight 1, by its --criterion name", MISSING)
    auxiliary_loss: str = option("loss that is added to the main loss, by its --criterion name", MISSING)
    auxiliary_weight: float = option(
        "what the auxiliary loss is multiplied by: less where it holds the main loss back", 1.0
    )
    main_options: str = option(
        "options of the main loss where its defaults do not suit, such as 'negatives=500 label_smoothing=0.05'", ""
    )
    auxiliary_options: str = option(
        "options of the auxiliary loss where its defaults do not suit, such as 'margin=0.3'", ""
    )


@register("combined", CombinedConfig)
class Combined(Mixture):
    """main loss + weight · auxiliary loss.

    Raises:
        InputError: One of the two is not a continuous loss. An option is unknown to it, or has a value it cannot take.
            The weight is not above 0.
    """

    def __init__(
        self,
        task: Any,
        sentence_avg: bool,
        main_loss: str,
        auxiliary_loss: str,
        auxiliary_weight: float,
        main_options: str,
        auxiliary_options: str,
    ):
        super().__init__(task, sentence_avg)
        if not 0 < auxiliary_weight < float("inf"):
            raise InputError(f"--auxiliary-weight is {auxiliary_weight:g}: give a number above 0")
        self.weight = auxiliary_weight
        self.main = nested_criterion("main", main_loss, main_options, task, sentence_avg)
        self.auxiliary = nested_criterion("auxiliary", auxiliary_loss, auxiliary_options, task, sentence_avg)

    def rows(self, pred: Tensor, index: Tensor, targets: TargetTable) -> tuple[Tensor, dict[str, Tensor]]:
        parts = {"main": (self.main, 1.0), "auxiliary": (self.auxiliary, self.weight)}
        return self.mixed(parts, pred, index, targets)
