"""Convolutions over words whose result never depends on padding."""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from fairseq_xl.modules.pooling import max_pool


class MaxConvolution(nn.Module):
    """Filters over each window of ``width`` words, ReLU, and the largest value of each filter (Kim 2014).

    A window starts at every word. Beyond the last word it covers zeros, so that a sentence shorter than the window has
    one, too.

    Args:
        input_dim: features of a word.
        filters: features out.
        width: words in a window.
    """

    def __init__(self, input_dim: int, filters: int, width: int):
        super().__init__()
        self.width = width
        self.convolution = nn.Conv1d(input_dim, filters, width)

    def forward(self, words: Tensor, padding: Tensor) -> Tensor:
        """(N, filters) from words (N, T, C) and padding (N, T), true where there is no word, at the end of a row."""
        words = words.masked_fill(padding.unsqueeze(-1), 0)
        spread = F.pad(words.transpose(1, 2), (0, self.width - 1))
        found = torch.relu(self.convolution(spread)).transpose(1, 2)
        return max_pool(found, padding)
