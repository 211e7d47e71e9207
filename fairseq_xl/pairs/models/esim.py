"""ESIM, the LSTM version (Chen et al. 2017, "Enhanced LSTM for Natural Language Inference", section 3)."""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from fairseq_xl.modules.pooling import max_pool, mean_pool
from fairseq_xl.modules.recurrent import BidirectionalLSTM
from fairseq_xl.pairs.models.decomposable import soft_align
from fairseq_xl.pairs.models.model import register_classifier


@register_classifier("esim")
class ESIM(nn.Module):
    """Read both, align their words, compare each word with what it is aligned to, read the comparisons.

    It knows nothing of one sentence alone.

    Args:
        input_dim: of a word.
        hidden_dim: of both directions of either BiLSTM together (even), and of the perceptron's hidden layer.
        dropout: before and after each BiLSTM and in the perceptron.
    """

    def __init__(self, input_dim: int, hidden_dim: int, dropout: float = 0.0):
        super().__init__()
        self.read = BidirectionalLSTM(input_dim, hidden_dim)
        self.shrink = nn.Linear(4 * hidden_dim, hidden_dim)
        self.compose = BidirectionalLSTM(hidden_dim, hidden_dim)
        self.decide = nn.Sequential(
            nn.Dropout(dropout),
            nn.Linear(4 * hidden_dim, hidden_dim),
            nn.Tanh(),
            nn.Dropout(dropout),
            nn.Linear(hidden_dim, 1),
        )
        self.dropout = dropout

    def forward(self, left: Tensor, right: Tensor, left_padding: Tensor, right_padding: Tensor) -> Tensor:
        a, b = self._run(self.read, left, left_padding), self._run(self.read, right, right_padding)
        right_seen, left_seen = soft_align(a @ b.transpose(1, 2), a, b, left_padding, right_padding)
        pooled = []
        for own, seen, padding in ((a, right_seen, left_padding), (b, left_seen, right_padding)):
            # equations 14 and 15, and F of section 3.3
            compared = torch.relu(self.shrink(torch.cat([own, seen, own - seen, own * seen], 2)))
            states = self._run(self.compose, compared, padding)
            pooled += [mean_pool(states, padding), max_pool(states, padding)]  # equations 18 to 20
        return self.decide(torch.cat(pooled, 1)).squeeze(1)

    def _run(self, lstm: BidirectionalLSTM, words: Tensor, padding: Tensor) -> Tensor:
        words = F.dropout(words, self.dropout, self.training)
        return lstm(words.transpose(0, 1), padding.logical_not().sum(1))[0].transpose(0, 1)
