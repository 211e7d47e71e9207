"""InferSent and its siblings (Conneau et al. 2017): one vector a sentence, compared in four ways.

No ``from __future__ import annotations`` here: fairseq reads the options' types to build its parser.
"""

from dataclasses import dataclass

import torch
import torch.nn.functional as F
from fairseq.dataclass import ChoiceEnum
from torch import Tensor, nn

from fairseq_xl.io.settings import option
from fairseq_xl.modules.pooling import max_pool, pool
from fairseq_xl.modules.recurrent import BidirectionalLSTM, reverse_within_length
from fairseq_xl.pairs.models.model import register_classifier
from fairseq_xl.pairs.models.siamese import ACTIVATIONS, LastState, PerceptronConfig, perceptron


class PooledBiLSTM(nn.Module):
    """The states of a BiLSTM, pooled by ``max`` or ``mean`` (section 3.2.2)."""

    def __init__(self, input_dim: int, hidden_dim: int, kind: str):
        super().__init__()
        self.lstm, self.kind = BidirectionalLSTM(input_dim, hidden_dim), kind

    def forward(self, words: Tensor, padding: Tensor) -> Tensor:
        """(N, hidden_dim)."""
        states, _ = self.lstm(words.transpose(0, 1), padding.logical_not().sum(1))
        return pool(self.kind, states.transpose(0, 1), padding)


class LastBiGRU(nn.Module):
    """A GRU's state after the last word beside another's, from the end, after the first (section 3.2.1)."""

    def __init__(self, input_dim: int, hidden_dim: int):
        super().__init__()
        if hidden_dim % 2:
            raise ValueError(f"the two directions share {hidden_dim} units, which is odd")
        self.forwards = nn.GRU(input_dim, hidden_dim // 2, batch_first=True)
        self.backwards = nn.GRU(input_dim, hidden_dim // 2, batch_first=True)

    def forward(self, words: Tensor, padding: Tensor) -> Tensor:
        """(N, hidden_dim)."""
        lengths = padding.logical_not().sum(1)
        flipped = reverse_within_length(words.transpose(0, 1), lengths).transpose(0, 1)
        rows = torch.arange(len(words), device=words.device)
        ends = [gru(x)[0][rows, lengths - 1] for gru, x in ((self.forwards, words), (self.backwards, flipped))]
        return torch.cat(ends, 1)


class HierarchicalConvolution(nn.Module):
    """Four layers of filters over three words, each layer max-pooled (section 3.2.4)."""

    LAYERS = 4

    def __init__(self, input_dim: int, hidden_dim: int):
        super().__init__()
        if hidden_dim % self.LAYERS:
            raise ValueError(f"four layers share {hidden_dim} features, which is no multiple of 4")
        width = hidden_dim // self.LAYERS
        dims = [input_dim] + [width] * (self.LAYERS - 1)
        self.layers = nn.ModuleList(nn.Conv1d(dim, width, 3, padding=1) for dim in dims)

    def forward(self, words: Tensor, padding: Tensor) -> Tensor:
        """(N, hidden_dim)."""
        pooled = []
        for layer in self.layers:
            words = words.masked_fill(padding.unsqueeze(-1), 0)
            words = F.relu(layer(words.transpose(1, 2))).transpose(1, 2)
            pooled.append(max_pool(words, padding))
        return torch.cat(pooled, 1)


SENTENCE_ENCODERS = {
    "bilstm_max": lambda input_dim, hidden_dim: PooledBiLSTM(input_dim, hidden_dim, "max"),
    "bilstm_mean": lambda input_dim, hidden_dim: PooledBiLSTM(input_dim, hidden_dim, "mean"),
    "bigru_last": LastBiGRU,
    "lstm_last": LastState,
    "conv": HierarchicalConvolution,
}


@dataclass
class InferSentConfig(PerceptronConfig):
    hidden_dim: int = option(
        "size of a sentence's vector, both directions together (the paper's: 2 x 600); less is faster", 1200
    )
    decide_dim: int = option("size of the hidden layers that decide; less for few pairs", 512)
    decide_layers: int = option(
        "hidden layers that decide; 1, with --activation sigmoid, is the paper's equation 4; more for many pairs", 1
    )
    reader: ChoiceEnum(list(SENTENCE_ENCODERS)) = option(  # type: ignore[valid-type]
        "the sentence encoder: a BiLSTM's states pooled by max or mean, the last states of a "
        "BiGRU or an LSTM, or a hierarchy of convolutions",
        "bilstm_max",
    )
    activation: ChoiceEnum(list(ACTIVATIONS)) = option(  # type: ignore[valid-type]
        "of the hidden layers; sigmoid: as the corpus paper writes them, slower to learn", "relu"
    )
    dropout: float = option("of the hidden layers that decide; raise it against over-fitting", 0.5)


@register_classifier("infersent", InferSentConfig)
class InferSent(nn.Module):
    """[u, v, |u - v|, u * v] of the sentences' vectors into a perceptron (section 3, figure 1).

    Args:
        input_dim: of a word.
        hidden_dim: of a sentence's vector.
        decide_dim: of the perceptron's hidden layers.
        reader: the sentence encoder, one of SENTENCE_ENCODERS.
        activation, decide_layers, dropout: of the perceptron.

    Raises:
        ValueError: an unknown encoder or activation, or a size that the encoder cannot share out.
    """

    def __init__(
        self,
        input_dim: int,
        hidden_dim: int,
        decide_dim: int,
        reader: str = "bilstm_max",
        activation: str = "relu",
        decide_layers: int = 1,
        dropout: float = 0.0,
    ):
        super().__init__()
        if reader not in SENTENCE_ENCODERS:
            raise ValueError(f"a sentence encoder is {', '.join(SENTENCE_ENCODERS)}, not {reader!r}")
        self.encoder = SENTENCE_ENCODERS[reader](input_dim, hidden_dim)
        self.decide = perceptron(4 * hidden_dim, decide_dim, decide_layers, dropout, False, activation)

    def encode(self, words: Tensor, padding: Tensor) -> Tensor:
        """(N, hidden_dim)."""
        return self.encoder(words, padding)

    def forward(self, left: Tensor, right: Tensor, left_padding: Tensor, right_padding: Tensor) -> Tensor:
        u, v = self.encode(left, left_padding), self.encode(right, right_padding)
        return self.decide(torch.cat([u, v, (u - v).abs(), u * v], 1)).squeeze(1)
