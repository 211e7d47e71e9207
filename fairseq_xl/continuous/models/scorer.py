"""How a model turns predicted vectors into scores."""

from __future__ import annotations

import torch
from torch import Tensor

from fairseq_xl import losses
from fairseq_xl.continuous.models.config import DecodingConfig
from fairseq_xl.continuous.models.targets import TargetTable
from fairseq_xl.losses import Hubs, Scoring, log_scores
from fairseq_xl.vectors.targets import WordList, log_frequency


class VectorScorer(torch.nn.Module):
    """Log-scores over the vocabulary from predicted vectors, under a :class:`DecodingConfig`."""

    bonus: Tensor | None

    def __init__(self, cfg: DecodingConfig, dictionary: WordList):
        super().__init__()
        self.score = str(cfg.decode_score)
        self.scale = cfg.decode_scale
        self.csls_weight = cfg.decode_csls_weight
        self.prior_weight = cfg.decode_prior_weight
        self.hubs = Hubs()
        self.register_buffer("bonus", None, persistent=False)
        if cfg.decode_prior_weight:
            self.bonus = cfg.decode_prior_weight * torch.from_numpy(log_frequency(dictionary))

    def penalty(self, targets: TargetTable) -> Tensor | None:
        """(V,) to subtract from each word's cosine, if anything."""
        return self.csls_weight * self.hubs.of(targets) if self.csls_weight else None

    def word_bonus(self, targets: TargetTable) -> Tensor | None:
        """(V,) to add to each word's logit, if anything: its log frequency, and the bias that was learnt for it."""
        return losses.word_bonus(targets, None if self.bonus is None else self.bonus.to(targets.table.device))

    def scoring(self, pred: Tensor, targets: TargetTable, norm: Tensor | None = None) -> Scoring:
        """The rule for raw predictions (…, d).

        ``norm`` is ‖e‖ (…,) as the decoder produced it. fairseq's generators divide a model's output by
        ``--temperature`` before they ask for scores, and this would not change a cosine.
        """
        temperature: Tensor | float = 1.0
        if norm is not None and self.score == "cosine":
            now = torch.linalg.vector_norm(pred.float(), dim=-1)
            temperature = (norm / now.clamp_min(1e-30)).unsqueeze(-1).clamp_min(1e-30)
        return Scoring(
            self.score,
            self.scale,
            temperature,
            self.penalty(targets),
            self.word_bonus(targets),
        )

    def log_scores(self, pred: Tensor, targets: TargetTable, norm: Tensor | None = None) -> Tensor:
        """(…, V) from raw predictions (…, d); ``norm`` as in :meth:`scoring`."""
        return log_scores(pred, targets, self.scoring(pred, targets, norm))
