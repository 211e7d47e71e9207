"""Stopping at a gradient that is not finite with a sentence a user can act on."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from fairseq_xl import faults
from fairseq_xl.compat.patching import replace

# How fairseq words the ends of training that a bad gradient brings about: in full precision, with
# --fp16, with --amp.
_MESSAGES = (
    "gradients are Nan/Inf",
    "Minimum loss scale reached",
    "AMP: Minimum loss scale reached",
)
_WHAT = "the gradient is not finite"


def name_the_batch_of_bad_gradients() -> None:
    """Say at which update and on which sentences a gradient was not finite.

    Broken: fairseq stops with a bare FloatingPointError. With ``--amp`` on a CPU it does not stop
    at all: torch then scales no loss, so that no lower scale can help, and the bad update is made.
    """
    from fairseq.trainer import Trainer

    def mend(stock: Callable[..., Any]) -> Callable[..., Any]:
        def train_step(self: Any, samples: list[Any], raise_oom: bool = False) -> Any:
            amp = self.cfg.common.amp
            scales = self.optimizer.scaler.is_enabled() if amp else self.cfg.common.fp16
            faults.training.update = self.get_num_updates() + 1
            faults.training.scales_loss = scales
            try:
                output = stock(self, samples, raise_oom)
            except FloatingPointError as error:
                if str(error).startswith(_MESSAGES):
                    raise faults.NonFiniteError(faults.sentence(_WHAT, samples)) from error
                raise
            if output is None and amp and not scales:
                raise faults.NonFiniteError(faults.sentence(_WHAT, samples))
            return output

        return train_step

    replace(Trainer, "train_step", mend)
