"""Training stops at a gradient that is not finite, with a sentence that a user can act on."""

from __future__ import annotations

from typing import Any

import torch

from fairseq_xl.compat.patching import Stock, replace
from fairseq_xl.training import finite

# How fairseq words the ends of training that a bad gradient brings about: in full precision, with --fp16, with --amp.
_MESSAGES = ("gradients are Nan/Inf", "Minimum loss scale reached", "AMP: Minimum loss scale reached")


def name_the_batch_of_bad_gradients() -> None:
    """Say at which update and on which sentences a gradient was not finite.

    Broken: fairseq stops with a bare FloatingPointError. With ``--amp`` on a CPU, where torch
    scales no loss, it stops with an AttributeError instead, looking for the next scale.
    """
    from fairseq.optim.amp_optimizer import AMPOptimizer
    from fairseq.trainer import Trainer

    @replace(Trainer, "train_step")
    def train_step(stock: Stock, self: Any, samples: list[Any], raise_oom: bool = False) -> Any:
        common = self.cfg.common
        finite.training.update = self.get_num_updates() + 1
        finite.training.scales_loss = self.optimizer.scaler.is_enabled() if common.amp else bool(common.fp16)
        try:
            return stock(self, samples, raise_oom)
        except FloatingPointError as error:
            if not str(error).startswith(_MESSAGES):
                raise
            raise finite.NonFiniteError(finite.sentence("the gradient is not finite", samples)) from error

    @replace(AMPOptimizer, "clip_grad_norm")
    def clip_grad_norm(stock: Stock, self: Any, max_norm: float, aggregate_norm_fn: Any = None) -> Any:
        if self.scaler.is_enabled():
            return stock(self, max_norm, aggregate_norm_fn)
        norm = self.fp32_optimizer.clip_grad_norm(max_norm, aggregate_norm_fn)
        if not torch.isfinite(norm).all():
            raise FloatingPointError(_MESSAGES[0])
        return norm
