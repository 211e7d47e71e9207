"""``--criterion annealed``: from one continuous loss to another while training.

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


def end_weight(update: int, anneal_from: int, anneal_to: int) -> float:
    """The end loss's weight after ``update`` updates: 0 up to ``anneal_from``, 1 from ``anneal_to``, linear between."""
    return min(1.0, max(0.0, (update - anneal_from) / (anneal_to - anneal_from)))


@dataclass
class AnnealedConfig(ContinuousCriterionConfig):
    start_loss: str = option(
        "loss to start with, by its --criterion name: one that learns fast from random predictions, such as cosine",
        MISSING,
    )
    end_loss: str = option(
        "loss to end with, by its --criterion name: the one that the finished model shall minimise", MISSING
    )
    anneal_from: int = option("updates that the start loss trains alone: more while its curve is still steep there", 0)
    anneal_to: int = option(
        "updates after which the end loss trains alone; between the two its weight rises linearly. "
        "Give a later one where the cosine falls back on the way",
        MISSING,
    )
    start_options: str = option(
        "options of the start loss where its defaults do not suit, such as 'lambda1=0 lambda2=1'", ""
    )
    end_options: str = option("options of the end loss where its defaults do not suit, such as 'margin=0.3'", "")


@register("annealed", AnnealedConfig)
class Annealed(Mixture):
    """(1 − w)·start loss + w·end loss, where w rises from 0 to 1 with the number of updates.

    The number of updates comes with the model: fairseq sets it before each update and when it loads a checkpoint. A
    resumed training therefore continues with the weight it had, and fairseq-validate uses the weight of training. A
    validation within training has the weight of the last update. The criterion logs w as ``end_weight``. What the two
    losses log beyond the cosine and κ gets their place as a prefix, as in ``end_hinge``. A loss of weight zero is not
    computed.

    Raises:
        InputError: One of the two is not a continuous loss. An option is unknown to it, or has a value it cannot take.
            The schedule does not rise.
    """

    def __init__(
        self,
        task: Any,
        sentence_avg: bool,
        start_loss: str,
        end_loss: str,
        anneal_from: int,
        anneal_to: int,
        start_options: str,
        end_options: str,
    ):
        super().__init__(task, sentence_avg)
        if not 0 <= anneal_from < anneal_to:
            raise InputError(
                f"--anneal-from {anneal_from} --anneal-to {anneal_to}: give two numbers of updates, the larger one last"
            )
        self.schedule = (anneal_from, anneal_to)
        self.start = nested_criterion("start", start_loss, start_options, task, sentence_avg)
        self.end = nested_criterion("end", end_loss, end_options, task, sentence_avg)

    def rows(self, pred: Tensor, index: Tensor, targets: TargetTable) -> tuple[Tensor, dict[str, Tensor]]:
        weight = end_weight(targets.num_updates, *self.schedule)
        parts = {"start": (self.start, 1 - weight), "end": (self.end, weight)}
        loss, logged = self.mixed(parts, pred, index, targets)
        return loss, {"end_weight": pred.new_full((), weight * index.numel()), **logged}
