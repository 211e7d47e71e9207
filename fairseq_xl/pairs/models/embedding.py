"""Words to vectors: given ones, kept or tuned, through a learned projection."""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import Tensor, nn


class WordEmbedding(nn.Module):
    """Looks a word's vector up and projects it.

    Args:
        table: (V, d) vectors of all words; that of ``pad`` is set to zero.
        pad: index of the padding token.
        tuned: whether training changes the vectors.
        project_dim: size of the learned linear projection; 0: none.
        dropout: of each feature of a word.
        word_dropout: share of words that are hidden in training: their vector is zero.
    """

    def __init__(
        self,
        table: Tensor,
        pad: int,
        tuned: bool = False,
        project_dim: int = 0,
        dropout: float = 0.0,
        word_dropout: float = 0.0,
    ):
        super().__init__()
        table = table.clone()
        table[pad] = 0
        if tuned:
            self.table = nn.Parameter(table)
        else:
            self.register_buffer("table", table)
        self.pad, self.dropout, self.word_dropout = pad, dropout, word_dropout
        self.project = nn.Linear(table.shape[1], project_dim, bias=False) if project_dim else nn.Identity()
        self.dim = project_dim or table.shape[1]

    def forward(self, tokens: Tensor) -> Tensor:
        """(N, T, dim) of tokens (N, T)."""
        vectors = F.embedding(tokens, self.table, self.pad)
        if self.training and self.word_dropout:
            kept = torch.rand(tokens.shape, device=tokens.device) >= self.word_dropout
            vectors = vectors * kept.unsqueeze(-1)
        return F.dropout(self.project(vectors), self.dropout, self.training)
