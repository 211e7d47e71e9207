"""Siamese pair classifiers: one encoder reads both sentences apart, and what it found is compared.

No ``from __future__ import annotations`` here: fairseq reads the options' types to build its parser.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import torch
import torch.nn.functional as F
from fairseq.dataclass import ChoiceEnum
from torch import Tensor, nn

from fairseq_xl.io.settings import option
from fairseq_xl.modules.convolution import MaxConvolution
from fairseq_xl.modules.recurrent import BidirectionalLSTM
from fairseq_xl.pairs.models.model import PairClassifierConfig, register_classifier

ACTIVATIONS = {"relu": nn.ReLU, "sigmoid": nn.Sigmoid, "tanh": nn.Tanh}
EXTRACTORS = ("conv", "lstm", "bilstm")
DIFFERENCES = ("signed", "absolute")
# exp(-distance) of two equal sentences is 1, whose logit is infinite: one wrong label would cost everything.
NEAREST = 1e-3


@dataclass
class PerceptronConfig(PairClassifierConfig):
    decide_dim: int = option("size of the two hidden layers that decide; less for few pairs", 128)


@dataclass
class FeatureConfig(PerceptronConfig):
    hidden_dim: int = option("features of each convolution, LSTM and BiLSTM (the paper tried 32, 64 and 128)", 64)
    difference: ChoiceEnum(list(DIFFERENCES)) = option(  # type: ignore[valid-type]
        "signed: a - b, the paper's; absolute: |a - b|, with which the order does not matter", "signed"
    )


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


class BatchNorm(nn.BatchNorm1d):
    """Batch normalisation that also trains on a batch of one pair, which has no variance: by running statistics."""

    def forward(self, x: Tensor) -> Tensor:
        if self.training and len(x) == 1:
            return F.batch_norm(x, self.running_mean, self.running_var, self.weight, self.bias, False, 0.0, self.eps)
        return super().forward(x)


def perceptron(
    input_dim: int, hidden_dim: int, layers: int, dropout: float, normalise: bool, activation: str = "relu"
) -> nn.Sequential:
    """Hidden layers, batch normalisation where wanted, and dropout; then one logit: (N, in) to (N, 1).

    Raises:
        ValueError: an unknown activation.
    """
    if activation not in ACTIVATIONS:
        raise ValueError(f"an activation is {', '.join(ACTIVATIONS)}, not {activation!r}")
    found: list[nn.Module] = []
    for layer in range(layers):
        found += [nn.Linear(hidden_dim if layer else input_dim, hidden_dim), ACTIVATIONS[activation]()]
        if normalise:
            found.append(BatchNorm(hidden_dim))
        found.append(nn.Dropout(dropout))
    return nn.Sequential(*found, nn.Linear(hidden_dim if layers else input_dim, 1))


@register_classifier("siamese_lstm")
class ManhattanLSTM(nn.Module):
    """p = exp(-|h_left - h_right|_1) of an LSTM's last states (Mueller & Thyagarajan 2016, equation 1).

    Symmetric in its two sentences. Args: dropout: of the words' features.
    """

    def __init__(self, input_dim: int, hidden_dim: int, dropout: float = 0.0):
        super().__init__()
        self.dropout = nn.Dropout(dropout)
        self.encoder = LastState(input_dim, hidden_dim)

    def encode(self, words: Tensor, padding: Tensor) -> Tensor:
        """(N, hidden_dim)."""
        return self.encoder(self.dropout(words), padding)

    def forward(self, left: Tensor, right: Tensor, left_padding: Tensor, right_padding: Tensor) -> Tensor:
        distance = (self.encode(left, left_padding) - self.encode(right, right_padding)).abs().sum(1)
        distance = distance.float().clamp_min(NEAREST)
        # log p - log(1 - p) with p = exp(-distance)
        return -distance - torch.log(-torch.expm1(-distance))


@register_classifier("siamese_conv", FeatureConfig, extractors=("conv",))
@register_classifier("siamese_conv_lstm", FeatureConfig, extractors=("conv", "lstm"))
@register_classifier("siamese_conv_lstm_bilstm", FeatureConfig, extractors=("conv", "lstm", "bilstm"))
class FeatureClassifier(nn.Module):
    """Convolutions, an LSTM and a BiLSTM encode each sentence; a perceptron compares (Hadgu 2018, section 3.3).

    Args:
        input_dim: of a word.
        extractors: which of conv (windows of 1, 2 and 3 words), lstm, bilstm.
        hidden_dim: features of each convolution and of each recurrent encoder.
        decide_dim: of the perceptron's two hidden layers.
        difference: signed, the paper's a - b, or absolute, |a - b|, which makes the classifier symmetric.
        dropout: of the perceptron's hidden layers.

    Raises:
        ValueError: an unknown extractor or difference.
    """

    def __init__(
        self,
        input_dim: int,
        extractors: Sequence[str],
        hidden_dim: int,
        decide_dim: int,
        difference: str = "signed",
        dropout: float = 0.0,
    ):
        super().__init__()
        if unknown := set(extractors) - set(EXTRACTORS):
            raise ValueError(f"extractors are {', '.join(EXTRACTORS)}, not {', '.join(sorted(unknown))}")
        if difference not in DIFFERENCES:
            raise ValueError(f"a difference is {' or '.join(DIFFERENCES)}, not {difference!r}")
        encoders: list[nn.Module] = []
        for name in extractors:
            if name == "conv":
                encoders += [MaxConvolution(input_dim, hidden_dim, words) for words in (1, 2, 3)]
            else:
                encoders.append((LastState if name == "lstm" else FinalStates)(input_dim, hidden_dim))
        self.encoders = nn.ModuleList(encoders)
        self.absolute = difference == "absolute"
        self.decide = perceptron(2 * len(encoders) * hidden_dim, decide_dim, 2, dropout, True)

    def encode(self, words: Tensor, padding: Tensor) -> Tensor:
        """(N, encoders · hidden_dim)."""
        return torch.cat([encoder(words, padding) for encoder in self.encoders], 1)

    def forward(self, left: Tensor, right: Tensor, left_padding: Tensor, right_padding: Tensor) -> Tensor:
        a, b = self.encode(left, left_padding), self.encode(right, right_padding)
        difference = (a - b).abs() if self.absolute else a - b
        return self.decide(torch.cat([difference, a * b], 1)).squeeze(1)
