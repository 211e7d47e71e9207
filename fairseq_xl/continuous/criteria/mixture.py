"""Criteria made of several continuous losses, and how options name these."""

from collections.abc import Mapping
from dataclasses import fields
from typing import Any

from fairseq.criterions import CRITERION_DATACLASS_REGISTRY, CRITERION_REGISTRY
from omegaconf import DictConfig, OmegaConf
from omegaconf.errors import ValidationError
from torch import Tensor

from fairseq_xl.continuous.criteria.criterion import ContinuousCriterion
from fairseq_xl.continuous.models.targets import TargetTable
from fairseq_xl.io.errors import InputError


class Mixture(ContinuousCriterion):
    """A criterion made of several others, none of which may be a mixture."""

    @property
    def learns_bias(self) -> bool:
        return any(part.learns_bias for part in self.children() if isinstance(part, ContinuousCriterion))

    def mixed(
        self,
        parts: Mapping[str, tuple[ContinuousCriterion, float]],
        pred: Tensor,
        index: Tensor,
        targets: TargetTable,
    ) -> tuple[Tensor, dict[str, Tensor]]:
        """Σ weight · loss (N,) over parts by place, of which one at least has a weight above 0.

        A loss of weight 0 is not computed. What a loss logs beyond the cosine and κ gets its place as a prefix, as in
        ``end_hinge``.
        """
        losses, logged = [], {}
        for place, (criterion, weight) in parts.items():
            if weight == 0:
                continue
            loss, beside = criterion.rows(pred, index, targets)
            losses.append(weight * loss)
            for name, value in beside.items():
                logged[name if name in ("cosine", "kappa") else f"{place}_{name}"] = value
        return sum(losses[1:], losses[0]), logged


def hinge_margin(criterion: Mapping[str, Any]) -> float | None:
    """The margin of the hinge that a model was trained with, from its criterion's options. None without a hinge.

    An annealed loss has the margin of its end loss, or else of its start loss. A sum has that of its main loss, or
    else of its auxiliary loss. A loss of a plugin that is not loaded here counts as one without a hinge, unless its
    options say a margin.
    """
    for place in ("end", "start", "main", "auxiliary"):
        if f"{place}_loss" not in criterion:
            continue
        name, options = criterion[f"{place}_loss"], criterion[f"{place}_options"]
        config: Mapping[str, Any]
        if name in CRITERION_REGISTRY:
            config = nested_config(place, name, options, False)
        else:
            config = {key: value for key, _, value in (option.partition("=") for option in options.split())}
        if "margin" in config:
            return float(config["margin"])
    return criterion.get("margin")


def nested_criterion(place: str, name: str, options: str, task: Any, sentence_avg: bool) -> ContinuousCriterion:
    """The loss ``name`` with its defaults, except for ``options`` ("NAME=VALUE NAME=VALUE …")."""
    config = nested_config(place, name, options, sentence_avg)
    return CRITERION_REGISTRY[name].build_criterion(config, task)


def nested_config(place: str, name: str, options: str, sentence_avg: bool) -> DictConfig:
    """The options of the loss ``name``, as :func:`nested_criterion` takes it.

    Raises:
        InputError: no such loss or option.
    """
    losses = [
        known
        for known, kind in CRITERION_REGISTRY.items()
        if issubclass(kind, ContinuousCriterion) and not issubclass(kind, Mixture)
    ]
    if name not in losses:
        raise InputError(f"--{place}-loss is {name!r}: choose one of {', '.join(sorted(losses))}")
    config = OmegaConf.structured(CRITERION_DATACLASS_REGISTRY[name](sentence_avg=sentence_avg))
    own = {f.name for f in fields(CRITERION_DATACLASS_REGISTRY[name])} - {"_name", "sentence_avg"}
    for given in options.split():
        key, equals, value = given.partition("=")
        key = key.replace("-", "_")
        if not equals or key not in own:
            known = ", ".join(f"{key}=…" for key in sorted(own)) or "none"
            raise InputError(f"--{place}-options has {given!r}: the options of {name} are {known}")
        try:
            config[key] = value
        except ValidationError as error:
            reason = str(error).splitlines()[0]
            raise InputError(f"--{place}-options has {given!r}: {reason}") from error
    return config
