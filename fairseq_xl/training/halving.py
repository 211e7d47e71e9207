"""``--lr-scheduler halving``: a lower learning rate after an update whose gradient was too large, for good or a while.

No ``from __future__ import annotations`` here: fairseq reads the options' types to build its parser.
"""

from dataclasses import dataclass
from typing import Any

import torch
from fairseq.dataclass import FairseqDataclass
from fairseq.optim.lr_scheduler import FairseqLRScheduler, register_lr_scheduler
from omegaconf import II

from fairseq_xl.io.errors import InputError
from fairseq_xl.io.settings import option


@dataclass
class HalvingConfig(FairseqDataclass):
    halve_above: float = option(
        "norm of the gradient (not clipped) above which the learning rate falls; look at the logged gnorm first", 5.0
    )
    halve_by: float = option(
        "what the learning rate is multiplied with then; nearer to 1 where it falls too often", 0.5
    )
    halve_until: float = option("the learning rate does not fall below this, or training would stand still", 1e-6)
    halve_for: int = option(
        "updates after which the learning rate is what it was at first; large gradients of the first epochs then do "
        "not end the training. 0: it stays low, as the corpus paper can be read",
        0,
    )
    lr: list[float] = II("optimization.lr")  # noqa: RUF009  (a reference, which is a string)
    clip_norm: float = II("optimization.clip_norm")


@register_lr_scheduler("halving", dataclass=HalvingConfig)
class Halving(FairseqLRScheduler):
    """Constant, and multiplied with ``halve_by`` after an update whose gradient's norm exceeds ``halve_above``.

    With ``halve_for`` 1 the next update alone has the lower rate. Of the corpus paper (section 4.1). Under data
    parallelism all workers hold the same gradient after an update.
    """

    def __init__(self, cfg: HalvingConfig, optimizer: Any):
        super().__init__(cfg, optimizer)
        if len(cfg.lr) != 1:
            raise InputError("--lr-scheduler halving takes one learning rate")
        if cfg.halve_for < 0:
            raise InputError(f"--halve-for is {cfg.halve_for}: give a number of updates, or 0 for good")
        if not 0 < cfg.halve_by < 1 or cfg.halve_above <= 0:
            raise InputError("--halve-by is a factor between 0 and 1, --halve-above a norm above 0")
        if 0 < cfg.clip_norm <= cfg.halve_above:
            raise InputError(
                f"--clip-norm {cfg.clip_norm} keeps every gradient below --halve-above {cfg.halve_above}: leave it out"
            )
        self.lr, self.seen, self.since = cfg.lr[0], 0, 0
        self.optimizer.set_lr(self.lr)

    def step_update(self, num_updates: int) -> float:
        """After an update: its gradients are still there, also when fairseq asks again at the end of an epoch."""
        if num_updates > self.seen:
            self.seen = num_updates
            self._judge()
        self.optimizer.set_lr(self.lr)
        return self.optimizer.get_lr()

    def _judge(self) -> None:
        squares = [p.grad.float().pow(2).sum() for p in self.optimizer.params if p.grad is not None]
        self.since += 1
        if squares and torch.stack(squares).sum().sqrt() > self.cfg.halve_above:
            self.lr, self.since = min(self.lr, max(self.lr * self.cfg.halve_by, self.cfg.halve_until)), 0
        elif self.cfg.halve_for and self.since >= self.cfg.halve_for:
            self.lr = self.cfg.lr[0]

    def state_dict(self) -> dict[str, float]:
        return {"lr": self.lr, "seen": self.seen, "since": self.since}

    def load_state_dict(self, state: dict[str, float]) -> None:
        self.lr, self.seen, self.since = state["lr"], int(state["seen"]), int(state.get("since", 0))
        self.optimizer.set_lr(self.lr)
