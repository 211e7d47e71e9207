"""How a model turns predicted vectors into scores."""

from __future__ import annotations

import torch
from torch import Tensor

from fairseq_xl.continuous import search
from fairseq_xl.continuous.config import DecodingConfig
from fairseq_xl.continuous.targets import TargetTable, WordList


class VectorScorer(torch.nn.Module):
    """Log-scores over the vocabulary from predicted vectors, under a :class:`DecodingConfig`."""

    def __init__(self, cfg: DecodingConfig, dictionary: WordList):
        super().__init__()
        self.score = str(cfg.decode_score)
        self.scale = cfg.decode_scale
        self.hub_weight = cfg.decode_hub_weight
        self.register_buffer("hubs", None, persistent=False)
        self.register_buffer("bonus", None, persistent=False)
        if cfg.decode_prior_weight:
            count = torch.tensor(dictionary.count, dtype=torch.float32).clamp_min(1)
            count[dictionary.eos()] = count[dictionary.nspecial :].max()
            count[dictionary.unk()] = 1
            self.bonus = cfg.decode_prior_weight * (count / count.sum()).log()

    def forward(self, pred: Tensor, targets: TargetTable, norm: Tensor | None = None) -> Tensor:
        """(…, V) from raw predictions (…, d).

        ``norm`` is ‖e‖ (…,) as the decoder produced it: fairseq's generators divide a model's output by
        ``--temperature`` before asking for scores, which a cosine would not notice.
        """
        penalty = None
        if self.hub_weight:
            if self.hubs is None:
                self.hubs = search.hubness(targets.table, targets.banned)
            penalty = self.hub_weight * self.hubs.to(targets.table.device)
        temperature: Tensor | float = 1.0
        if norm is not None and self.score == "cosine":
            now = torch.linalg.vector_norm(pred.float(), dim=-1)
            temperature = (norm / now.clamp_min(1e-30)).unsqueeze(-1).clamp_min(1e-30)
        bonus = None if self.bonus is None else self.bonus.to(pred.device)
        return search.log_scores(
            pred, targets.table, targets.banned, self.score, self.scale, temperature, penalty, bonus
        )
