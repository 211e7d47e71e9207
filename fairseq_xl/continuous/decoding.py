"""How a model turns predicted vectors into scores: the options, and the module that applies them."""

from __future__ import annotations

from dataclasses import dataclass, field

import torch
from fairseq.dataclass import ChoiceEnum, FairseqDataclass
from torch import Tensor

from fairseq_xl.continuous import search
from fairseq_xl.continuous.targets import TargetTable, WordList


@dataclass
class DecodingConfig(FairseqDataclass):
    """Options of continuous decoding. They are saved with a model and can be changed when translating:
    ``fairseq-generate … --model-overrides "{'decode_score': 'vmf_posterior'}"``."""

    decode_score: ChoiceEnum(list(search.SCORES)) = field(  # type: ignore[valid-type]
        default="cosine",
        metadata={
            "help": "how predicted vectors score words. cosine: softmax of decode-scale times the cosine (for cosine "
            "and margin losses). vmf_posterior: softmax of kappa times the cosine (for vmf). vmf_density: the "
            "density itself, as the paper decodes; over a beam it favours long outputs of sure words"
        },
    )
    decode_scale: float = field(
        default=20.0,
        metadata={
            "help": "sharpness of decode-score cosine: only beam search and ensembles depend on it"
        },
    )
    decode_hub_weight: float = field(
        default=0.0,
        metadata={
            "help": "subtract this times each word's mean cosine to its 10 nearest words (CSLS): raise it towards 1 "
            "when rare words from crowded regions intrude"
        },
    )
    decode_prior_weight: float = field(
        default=0.0,
        metadata={
            "help": "add this times the log relative frequency of each word in the dictionary: raise it when rare "
            "words intrude. End of sentence counts as the most frequent word, unknown as one occurrence"
        },
    )


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
