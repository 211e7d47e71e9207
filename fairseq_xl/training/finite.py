"""Losses and gradients that are not finite: one sentence that names the update and the batch."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from fairseq_xl.io.errors import InputError

_SHOWN_IDS = 20


class NonFiniteError(InputError, FloatingPointError):
    """Training met a NaN or an infinity. The message names the update and the sentences."""


@dataclass
class _Training:
    """What the trainer is doing; ``compat`` keeps it current."""

    update: int | None = None
    scales_loss: bool = False


training = _Training()


def check_finite(loss: Tensor, sample: Mapping[str, Any]) -> None:
    """Stop training on a loss that is not finite; call it in a criterion's forward.

    Training in half precision (``--fp16``, ``--amp``) meets infinities by design: fairseq then
    lowers the loss scale and tries again, so nothing is checked here.

    Args:
        loss: of the batch, any shape.
        sample: the batch, with its sentence numbers (B,) as ``id``.

    Raises:
        NonFiniteError: the loss holds a NaN or an infinity.
    """
    if training.scales_loss or torch.isfinite(loss).all():
        return
    raise NonFiniteError(sentence("the loss is not finite", [sample]))


def sentence(what: str, samples: Iterable[Mapping[str, Any]]) -> str:
    """``what`` happened, at which update, on which sentences, and what helps."""
    ids: list[int] = []
    for sample in samples:
        if sample and "id" in sample:
            ids.extend(torch.as_tensor(sample["id"]).flatten().tolist())
    shown = ", ".join(map(str, ids[:_SHOWN_IDS]))
    if len(ids) > _SHOWN_IDS:
        shown += f" and {len(ids) - _SHOWN_IDS} more"
    return (
        f"{what} at update {'?' if training.update is None else training.update} on the batch of training sentences "
        f"{shown} (counted from 0): lower --lr, set --clip-norm, or look at these sentences"
    )
