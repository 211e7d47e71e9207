"""Small classifiers of pairs, one of each kind, and what they say of made-up sentences."""

from __future__ import annotations

import torch
from torch import nn

from fairseq_xl.pairs.models.decomposable import DecomposableAttention
from fairseq_xl.pairs.models.esim import ESIM
from fairseq_xl.pairs.models.infersent import SENTENCE_ENCODERS, InferSent
from fairseq_xl.pairs.models.siamese import FeatureClassifier, ManhattanLSTM

DIM = 6
CLASSIFIERS = {
    "manhattan": lambda: ManhattanLSTM(DIM, 5),
    "conv": lambda: FeatureClassifier(DIM, ("conv",), 4, 7),
    "conv_lstm_bilstm": lambda: FeatureClassifier(DIM, ("conv", "lstm", "bilstm"), 4, 7),
    "conv_absolute": lambda: FeatureClassifier(DIM, ("conv", "bilstm"), 4, 7, "absolute"),
    **{f"infersent_{name}": lambda name=name: InferSent(DIM, 16, 7, name) for name in SENTENCE_ENCODERS},
    "esim": lambda: ESIM(DIM, 8),
    "decomposable": lambda: DecomposableAttention(DIM, 8),
    "decomposable_intra": lambda: DecomposableAttention(DIM, 8, intra_attention=True),
    "decomposable_enhanced": lambda: DecomposableAttention(DIM, 8, enhanced=True),
}


def made(name: str) -> nn.Module:
    torch.manual_seed(3)
    classifier = CLASSIFIERS[name]().double()
    for module in classifier.modules():
        if isinstance(module, nn.BatchNorm1d):  # statistics that are not those of a fresh layer
            module.running_mean.normal_()
            module.running_var.uniform_(0.5, 2)
    return classifier.eval()


def padded(sentences: list[torch.Tensor], extra: int = 0) -> tuple[torch.Tensor, torch.Tensor]:
    """Rows of one length with junk at padding, and where the padding is."""
    length = max(map(len, sentences)) + extra
    words = torch.randn(len(sentences), length, DIM, dtype=torch.float64) * 3
    padding = torch.ones(len(sentences), length, dtype=torch.bool)
    for row, sentence in enumerate(sentences):
        words[row, : len(sentence)] = sentence
        padding[row, : len(sentence)] = False
    return words, padding


def scores(classifier: nn.Module, left, right, extra: int = 0) -> torch.Tensor:
    (a, a_padding), (b, b_padding) = padded(left, extra), padded(right, 2 * extra)
    return classifier(a, b, a_padding, b_padding)
