"""``--criterion annealed``: from one continuous loss to another while training.

No ``from __future__ import annotations`` here: fairseq reads the options' types to build its parser.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Any

from fairseq.criterions import CRITERION_DATACLASS_REGISTRY, CRITERION_REGISTRY
from omegaconf import MISSING, DictConfig, OmegaConf
from omegaconf.errors import ValidationError
from torch import Tensor

from fairseq_xl.continuous.criteria.criterion import ContinuousCriterion, ContinuousCriterionConfig, register
from fairseq_xl.continuous.models.targets import TargetTable
from fairseq_xl.io.errors import InputError


def second_weight(update: int, start: int, end: int) -> float:
    """The weight of the second loss after ``update`` updates: 0 up to ``start``, 1 from ``end``, linear between."""
    return min(1.0, max(0.0, (update - start) / (end - start)))


@dataclass
class AnnealedConfig(ContinuousCriterionConfig):
    first: str = field(
        default=MISSING,
        metadata={"help": "loss to begin with, a continuous criterion: one that learns fast from afar, as cosine"},
    )
    second: str = field(
        default=MISSING, metadata={"help": "loss to end with, likewise: the one whose optimum is wanted"}
    )
    anneal_from: int = field(
        default=0,
        metadata={"help": "updates that the first loss trains alone: more while its curve is still steep there"},
    )
    anneal_to: int = field(
        default=MISSING,
        metadata={
            "help": "updates after which the second loss trains alone; between the two its weight rises linearly. "
            "Later where the cosine falls back on the way"
        },
    )
    first_options: str = field(
        default="",
        metadata={"help": "options of the first loss where its defaults do not suit, as 'lambda1=0 lambda2=1'"},
    )
    second_options: str = field(default="", metadata={"help": "options of the second loss, likewise"})


@register("annealed", AnnealedConfig)
class Annealed(ContinuousCriterion):
    """(1 − w)·first + w·second, where w rises from 0 to 1 with the number of updates.

    The number comes with the model: fairseq sets it before each update and when it loads a checkpoint, so a
    resumed training goes on with the weight it had, and fairseq-validate weighs as training did. A validation
    within training has the weight of the last update. Logs w as ``second_weight``, and what the parts log beyond
    the cosine and κ under their place, as ``second_hinge``. A part of weight zero is not computed.

    Raises:
        InputError: a part is no continuous loss; an option it does not have, or cannot take; a schedule that
            does not rise.
    """

    def __init__(
        self,
        task: Any,
        sentence_avg: bool,
        first: str,
        second: str,
        anneal_from: int,
        anneal_to: int,
        first_options: str,
        second_options: str,
    ):
        super().__init__(task, sentence_avg)
        if not 0 <= anneal_from < anneal_to:
            raise InputError(
                f"--anneal-from {anneal_from} --anneal-to {anneal_to}: give two numbers of updates, the second larger"
            )
        self.schedule = (anneal_from, anneal_to)
        self.first = _part("first", first, first_options, task, sentence_avg)
        self.second = _part("second", second, second_options, task, sentence_avg)

    def rows(self, pred: Tensor, index: Tensor, targets: TargetTable) -> tuple[Tensor, dict[str, Tensor]]:
        weight = second_weight(targets.num_updates, *self.schedule)
        mixed: Tensor | None = None
        logged = {"second_weight": pred.new_full((), weight * index.numel())}
        for place, part, share in (("first", self.first, 1 - weight), ("second", self.second, weight)):
            if share == 0:
                continue
            loss, beside = part.rows(pred, index, targets)
            mixed = share * loss if mixed is None else mixed + share * loss
            for name, value in beside.items():
                logged[name if name in ("cosine", "kappa") else f"{place}_{name}"] = value
        assert mixed is not None
        return mixed, logged


def hinge_margin(criterion: Mapping[str, Any]) -> float | None:
    """The margin of the hinge that a model was trained with, from its criterion's options; None without a hinge.

    Of a mix, that of the second loss, with which training ends, or else of the first.
    """
    if criterion["_name"] != "annealed":
        return criterion.get("margin")
    for place in ("second", "first"):
        part = _config(place, criterion[place], criterion[f"{place}_options"], False)
        if "margin" in part:
            return float(part.margin)
    return None


def _part(place: str, name: str, options: str, task: Any, sentence_avg: bool) -> ContinuousCriterion:
    """The loss ``name`` with its defaults but for ``options``, "NAME=VALUE NAME=VALUE …"."""
    config = _config(place, name, options, sentence_avg)
    return CRITERION_REGISTRY[name].build_criterion(config, task)


def _config(place: str, name: str, options: str, sentence_avg: bool) -> DictConfig:
    """The options of the loss ``name``, as :func:`_part` takes it. Raises: InputError: no such loss or option."""
    losses = [
        known
        for known, kind in CRITERION_REGISTRY.items()
        if issubclass(kind, ContinuousCriterion) and kind is not Annealed
    ]
    if name not in losses:
        raise InputError(f"--{place} is {name!r}: choose one of {', '.join(sorted(losses))}")
    config = OmegaConf.structured(CRITERION_DATACLASS_REGISTRY[name](sentence_avg=sentence_avg))
    own = {f.name for f in fields(CRITERION_DATACLASS_REGISTRY[name])} - {"_name", "sentence_avg"}
    for option in options.split():
        key, equals, value = option.partition("=")
        key = key.replace("-", "_")
        if not equals or key not in own:
            known = ", ".join(f"{key}=…" for key in sorted(own)) or "none"
            raise InputError(f"--{place}-options has {option!r}: the options of {name} are {known}")
        try:
            config[key] = value
        except ValidationError as error:
            reason = str(error).splitlines()[0]
            raise InputError(f"--{place}-options has {option!r}: {reason}") from error
    return config
