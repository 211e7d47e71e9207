"""The losses of ``fairseq_xl.losses`` by name, with options as a mapping."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from typing import Any

import torch
from torch import Tensor

from fairseq_xl.io.errors import InputError
from fairseq_xl.io.settings import check_kind
from fairseq_xl.losses import LOSSES, VectorLoss
from fairseq_xl.training.finite import NonFiniteError

DEFAULTS: dict[str, dict[str, Any]] = {"vmf": {"lambda1": 0.02, "lambda2": 0.1}}
"""What training begins with where a loss's own defaults are another form of it: here the paper's regularised vMF."""

NOT_OPTIONS = {"self", "reduction", "target_norm", "generator", "weights"}
"""Arguments of losses that are no options: eole sums, the table is of unit length, and draws follow eole's seed."""


def options_of(name: str) -> dict[str, Any]:
    """The options of a loss, with their defaults.

    A loss that draws words by ``weights`` has ``negatives_power`` in their place. What a constructor hands on as
    ``**settings`` is no option.
    """
    parameters = inspect.signature(LOSSES[name].__init__).parameters
    found = {
        key: each.default
        for key, each in parameters.items()
        if key not in NOT_OPTIONS and each.kind not in (each.VAR_POSITIONAL, each.VAR_KEYWORD)
    }
    if "weights" in parameters:
        found["negatives_power"] = 0.0
    return {**found, **DEFAULTS.get(name, {})}


def build_loss(name: str, options: Mapping[str, Any], log_frequency: Tensor) -> VectorLoss:
    """A loss that gives one value per row.

    Args:
        name: a key of LOSSES.
        options: those that differ from the defaults. ``negatives_power`` draws words by their frequency to this
            power; 0 draws uniformly.
        log_frequency: (V,) of each word of the table.

    Raises:
        InputError: an option that the loss does not have, or cannot take.
    """
    known = options_of(name)
    for key, value in options.items():
        if key not in known:
            raise InputError(
                f"continuous.loss_options has {key!r}: the options of {name} are {', '.join(known) or 'none'}"
            )
        check_kind(f"continuous.loss_options.{key}", value, type(known[key]))
    given = {**known, **options}
    power = given.pop("negatives_power", 0.0)
    if power and given.get("negatives") == 0:
        raise InputError("continuous.loss_options.negatives_power says how words are sampled: give negatives, too")
    if power:
        given["weights"] = (power * log_frequency.double()).exp()
    try:
        return LOSSES[name](reduction="none", **given)
    except ValueError as error:
        raise InputError(f"continuous.loss {name}: {error}") from None


def finite_sum(loss: Tensor) -> Tensor:
    """The sum of losses (N,), in float32.

    Raises:
        NonFiniteError: a loss that is not finite, from which training would not recover.
    """
    total = loss.float().sum()
    if not torch.isfinite(total):
        raise NonFiniteError(
            "the loss is not finite: lower training.learning_rate or training.max_grad_norm, or train in float32"
        )
    return total
