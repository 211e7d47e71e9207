"""eole's computation of the training loss, with a loss on predicted vectors."""

from __future__ import annotations

from typing import Any

import torch
from eole.utils.loss import LossCompute
from torch import Tensor

from fairseq_xl.eole.losses import build_loss, finite_sum
from fairseq_xl.losses import VectorLoss, best_words

SAMPLE = 256
"""Words of a training batch whose accuracy stands for the batch's: to search the table for all would cost a softmax."""


class VectorLossCompute(LossCompute):
    """The summed loss of a batch; the accuracy is that of the nearest words, of a sample while training."""

    vector_loss: VectorLoss
    unknown: int
    correct: int

    @classmethod
    def from_config(cls, config: Any, model: Any, vocabs: dict[str, Any], train: bool = True) -> VectorLossCompute:
        """As eole's, with the loss of the model's settings. Raises: InputError: options that the loss does not take."""
        made = super().from_config(config, model, vocabs, train=train)
        settings, generator = model.settings, model.generator
        made.vector_loss = build_loss(settings.loss, settings.loss_options, generator.log_frequency)
        made.vector_loss.train(train)
        made.unknown = vocabs["tgt"][vocabs["specials"]["unk_token"]]
        made.correct = 0
        return made

    def _compute_ce_loss(self, output: Tensor, flat_tgt: Tensor) -> tuple[Tensor, None]:
        """The loss of decoder states (B, T, C) and target words (B·T,)."""
        targets = self.generator.targets
        is_word = flat_tgt.ne(self.padding_idx)
        pred = self.generator.vectors(self._bottle(output)[is_word])
        index = targets.as_predicted(flat_tgt[is_word], self.unknown)
        with torch.autocast(pred.device.type, enabled=False):  # in half precision near words are equally near
            pred = pred.float()
            loss = finite_sum(self.vector_loss.rows(pred, index, targets).loss)
            seen = pred.detach(), index
            if self.vector_loss.training and len(index) > SAMPLE:
                chosen = torch.linspace(0, len(index) - 1, SAMPLE, device=index.device).long()
                seen = pred.detach()[chosen], index[chosen]
            share = best_words(seen[0], targets).eq(seen[1]).float().mean() if len(index) else torch.zeros(())
        self.correct = round(share.item() * len(index))
        return loss, None

    def _stats(self, *args: Any, **kwargs: Any) -> Any:
        stats = super()._stats(*args, **kwargs)
        stats.n_correct = self.correct
        return stats
