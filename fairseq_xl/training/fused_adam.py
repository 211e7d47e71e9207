"""Adam in one pass over each parameter: ``--optimizer fused_adam``.

Unless apex is installed, fairseq's own ``adam`` walks over every weight some ten times, one operator at a time. At the
papers' size that is a tenth of a training step and more. Since fairseq was written, torch has got a fused kernel for
CUDA and CPU.

No ``from __future__ import annotations`` here: fairseq reads the options' types to build its parser.
"""

import ast
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from fairseq.dataclass import FairseqDataclass
from fairseq.optim import FairseqOptimizer, register_optimizer
from omegaconf import II

from fairseq_xl.io.errors import InputError
from fairseq_xl.io.settings import option


@dataclass
class FusedAdamConfig(FairseqDataclass):
    adam_betas: str = option(
        "decay of the running mean and of the running square of gradients: transformers often use '(0.9, 0.98)'",
        "(0.9, 0.999)",
    )
    adam_eps: float = option("added to the denominator: raise it when rarely updated weights jump", 1e-8)
    weight_decay: float = option(
        "shrink weights by this times the learning rate each update (as AdamW). Give some hundredths against "
        "over-fitting",
        0.0,
    )
    lr: list[float] = II("optimization.lr")  # noqa: RUF009  (a reference, which is a string)


@register_optimizer("fused_adam", dataclass=FusedAdamConfig)
class FusedAdam(FairseqOptimizer):
    """torch's fused AdamW under fairseq's options for ``adam``.

    It differs from fairseq's ``adam`` in one thing. It adds epsilon after the correction of the bias, as in Kingma & Ba
    (2015), algorithm 1. The ``adam`` of fairseq adds it before.

    Raises:
        InputError: ``--adam-betas`` is not a pair of numbers from 0 up to 1.
    """

    def __init__(self, cfg: FusedAdamConfig, params: Iterable[torch.nn.Parameter]):
        super().__init__(cfg)
        self._optimizer = torch.optim.AdamW(params, fused=True, **self.optimizer_config)

    @property
    def supports_flat_params(self) -> bool:
        """AdamW treats each weight alone, so ``--fp16`` may lay all of them out as one vector."""
        return True

    @property
    def optimizer_config(self) -> dict[str, Any]:
        lr = self.cfg.lr
        return {
            "lr": lr[0] if isinstance(lr, Sequence) else lr,
            "betas": _betas(self.cfg.adam_betas),
            "eps": self.cfg.adam_eps,
            "weight_decay": self.cfg.weight_decay,
        }


def _betas(text: str) -> tuple[float, float]:
    try:
        first, second = (float(beta) for beta in ast.literal_eval(str(text)))
        if not (0 <= first < 1 and 0 <= second < 1):
            raise ValueError
    except (ValueError, TypeError, SyntaxError):
        raise InputError(f"--adam-betas is {text}: give two numbers from 0 up to 1, as '(0.9, 0.999)'") from None
    return first, second
