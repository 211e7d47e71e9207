"""How two sentences, read apart by one encoder, become a decision.

A matcher is called with ``left`` (N, T, C) and ``right`` (N, U, C), the word vectors of the sentences, and with
``left_padding`` (N, T) and ``right_padding`` (N, U), true where there is no word, at the end of a row; each row has a
word. It returns logits (N,): log p/(1 - p) of "they mean the same". ``encode`` is what it knows of one sentence.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor, nn

from fairseq_xl.modules.convolution import MaxConvolution
from fairseq_xl.modules.recurrent import BidirectionalLSTM
from fairseq_xl.pairs.models.perceptron import perceptron

EXTRACTORS = ("conv", "lstm", "bilstm")
DIFFERENCES = ("signed", "absolute")
# exp(-distance) of two equal sentences is 1, whose logit is infinite: one wrong label would cost everything.
NEAREST = 1e-3


class LastState(nn.Module):
    """The state of a one-directional LSTM after the last word."""

    def __init__(self, input_dim: int, hidden_dim: int):
        super().__init__()
        self.lstm = nn.LSTM(input_dim, hidden_dim, batch_first=True)

    def forward(self, words: Tensor, padding: Tensor) -> Tensor:
        """(N, hidden_dim)."""
        states, _ = self.lstm(words)
        last = padding.logical_not().sum(1) - 1
        return states[torch.arange(len(states), device=states.device), last]


class FinalStates(nn.Module):
    """The final states of both directions of a BiLSTM."""

    def __init__(self, input_dim: int, hidden_dim: int):
        super().__init__()
        self.lstm = BidirectionalLSTM(input_dim, hidden_dim)

    def forward(self, words: Tensor, padding: Tensor) -> Tensor:
        """(N, hidden_dim)."""
        return self.lstm(words.transpose(0, 1), padding.logical_not().sum(1))[1][-1]


class ManhattanLSTM(nn.Module):
    """p = exp(-|h_left - h_right|_1) of an LSTM's last states (Mueller & Thyagarajan 2016, equation 1).

    Symmetric in its two sentences. Args: dropout: of the words' features.
    """

    def __init__(self, input_dim: int, hidden_dim: int, dropout: float = 0.0):
        super().__init__()
        self.dropout = nn.Dropout(dropout)
        self.reader = LastState(input_dim, hidden_dim)

    def encode(self, words: Tensor, padding: Tensor) -> Tensor:
        """(N, hidden_dim)."""
        return self.reader(self.dropout(words), padding)

    def forward(self, left: Tensor, right: Tensor, left_padding: Tensor, right_padding: Tensor) -> Tensor:
        distance = (self.encode(left, left_padding) - self.encode(right, right_padding)).abs().sum(1)
        distance = distance.float().clamp_min(NEAREST)
        # log p - log(1 - p) with p = exp(-distance)
        return -distance - torch.log(-torch.expm1(-distance))


class FeatureMatcher(nn.Module):
    """Convolutions, an LSTM and a BiLSTM read each sentence; a perceptron compares (Hadgu 2018, section 3.3).

    Args:
        input_dim: of a word.
        extractors: which of conv (windows of 1, 2 and 3 words), lstm, bilstm.
        width: features of each convolution and of each recurrent reader.
        hidden_dim: of the perceptron's two hidden layers.
        difference: signed, the paper's a - b, or absolute, |a - b|, which makes the matcher symmetric.
        dropout: of the perceptron's hidden layers.

    Raises:
        ValueError: an unknown extractor or difference.
    """

    def __init__(
        self,
        input_dim: int,
        extractors: Sequence[str],
        width: int,
        hidden_dim: int,
        difference: str = "signed",
        dropout: float = 0.0,
    ):
        super().__init__()
        if unknown := set(extractors) - set(EXTRACTORS):
            raise ValueError(f"extractors are {', '.join(EXTRACTORS)}, not {', '.join(sorted(unknown))}")
        if difference not in DIFFERENCES:
            raise ValueError(f"a difference is {' or '.join(DIFFERENCES)}, not {difference!r}")
        readers: list[nn.Module] = []
        for name in extractors:
            if name == "conv":
                readers += [MaxConvolution(input_dim, width, words) for words in (1, 2, 3)]
            else:
                readers.append((LastState if name == "lstm" else FinalStates)(input_dim, width))
        self.readers = nn.ModuleList(readers)
        self.absolute = difference == "absolute"
        self.decide = perceptron(2 * len(readers) * width, hidden_dim, 2, dropout, True)

    def encode(self, words: Tensor, padding: Tensor) -> Tensor:
        """(N, readers · width)."""
        return torch.cat([reader(words, padding) for reader in self.readers], 1)

    def forward(self, left: Tensor, right: Tensor, left_padding: Tensor, right_padding: Tensor) -> Tensor:
        a, b = self.encode(left, left_padding), self.encode(right, right_padding)
        difference = (a - b).abs() if self.absolute else a - b
        return self.decide(torch.cat([difference, a * b], 1)).squeeze(1)
