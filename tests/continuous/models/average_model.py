"""A model of one's own in one file: the mean of the source's embeddings and the word before say the next word.

No ``from __future__ import annotations`` here: fairseq reads the options' types to build its parser.
"""

from dataclasses import dataclass
from typing import Any

import torch
from fairseq.data import Dictionary
from fairseq.models import FairseqEncoder, FairseqEncoderDecoderModel, FairseqIncrementalDecoder, register_model
from torch import Tensor, nn

from fairseq_xl.continuous.models.config import VectorOutputConfig
from fairseq_xl.continuous.models.output import VectorOutput, learnt_words, target_table, vector_dim
from fairseq_xl.continuous.models.targets import TargetTable
from fairseq_xl.io.settings import option


@dataclass
class AverageConfig(VectorOutputConfig):
    width: int = option("size of source embeddings and of decoder states", 32)


class AverageEncoder(FairseqEncoder):
    def __init__(self, cfg: AverageConfig, dictionary: Dictionary):
        super().__init__(dictionary)
        self.embed_tokens = nn.Embedding(len(dictionary), cfg.width, dictionary.pad())

    def forward(self, src_tokens: Tensor, src_lengths: Tensor | None = None) -> dict[str, Tensor]:
        """``mean`` (N, width) of tokens (N, S)."""
        words = src_tokens.ne(self.dictionary.pad()).sum(1, keepdim=True)
        return {"mean": self.embed_tokens(src_tokens).sum(1) / words}

    def reorder_encoder_out(self, encoder_out: dict[str, Tensor], new_order: Tensor) -> dict[str, Tensor]:
        return {name: x.index_select(0, new_order) for name, x in encoder_out.items()}

    def max_positions(self) -> int:
        return 1024


class AverageDecoder(VectorOutput, FairseqIncrementalDecoder):
    def __init__(self, cfg: AverageConfig, dictionary: Dictionary, targets: TargetTable | None):
        super().__init__(dictionary)
        dim = vector_dim(cfg, targets)
        self.set_output(cfg, dictionary, targets)
        self.embed_tokens = learnt_words(cfg, dictionary, targets)
        self.hidden = nn.Linear(dim + cfg.width, cfg.width)
        self.output_projection = nn.Linear(cfg.width, dim)
        self.add_softmax(cfg, dictionary, targets, self.embed_tokens)

    def forward(
        self, prev_output_tokens: Tensor, encoder_out: dict[str, Tensor], incremental_state: Any = None, **_: Any
    ) -> tuple[Tensor, dict[str, Any]]:
        """Vectors (N, T, d) or logits (N, T, V), and what decoding must know beside them."""
        if incremental_state is not None:
            prev_output_tokens = prev_output_tokens[:, -1:]
        words = self.targets if self.embed_tokens is None else self.embed_tokens
        before = words(prev_output_tokens)
        mean = encoder_out["mean"].unsqueeze(1).expand(-1, before.shape[1], -1)
        output = self.output_layer(torch.tanh(self.hidden(torch.cat([before, mean], -1))))
        return output, {**self.norms(output), "attn": [None]}

    def max_positions(self) -> int:
        return 1024


@register_model("continuous_average", dataclass=AverageConfig)
class Average(FairseqEncoderDecoderModel):
    @classmethod
    def build_model(cls, cfg: AverageConfig, task: Any) -> "Average":
        targets = target_table(cfg, task.target_dictionary)
        encoder = AverageEncoder(cfg, task.source_dictionary)
        return cls(encoder, AverageDecoder(cfg, task.target_dictionary, targets))
