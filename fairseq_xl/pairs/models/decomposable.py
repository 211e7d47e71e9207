"""Decomposable attention (Parikh et al. 2016, "A Decomposable Attention Model for Natural Language Inference").

No ``from __future__ import annotations`` here: fairseq reads the options' types to build its parser.
"""

from dataclasses import dataclass

import torch
from torch import Tensor, nn

from fairseq_xl.io.settings import option
from fairseq_xl.modules.pooling import max_pool, mean_pool
from fairseq_xl.pairs.models.model import PairClassifierConfig, register_classifier

# Distances between words that have a bias of their own; all longer ones share one (Parikh et al., section 4).
DISTANCES = 10


@dataclass
class DecomposableConfig(PairClassifierConfig):
    intra_attention: bool = option(
        "attend within each sentence first, with a bias for each distance. Give it where the order of words matters",
        False,
    )
    enhanced: bool = option(
        "compare words by difference and product, too, and pool comparisons by mean and maximum instead of their sum. "
        "ESIM does so. Give it for sentences of very different lengths",
        False,
    )
    project_dim: int = option(
        "size of the learned projection of the word vectors (the paper's: 200). Lower it for few pairs; 0: none", 200
    )


def soft_align(
    scores: Tensor, left: Tensor, right: Tensor, left_padding: Tensor, right_padding: Tensor
) -> tuple[Tensor, Tensor]:
    """For each word of one sentence, the mean of the other's words, weighted by the softmax of their scores.

    Parikh et al. 2016, equation 2; Chen et al. 2017, equations 12 and 13.

    Args:
        scores: (N, T, U) of words of left with words of right.
        left, right: (N, T, C) and (N, U, D), what is averaged.
        left_padding, right_padding: (N, T) and (N, U), true where there is no word; each row has a word.

    Returns:
        (N, T, D), right as each word of left sees it, and (N, U, C), left as each word of right sees it.
    """
    scores = scores.float()
    over_right = scores.masked_fill(right_padding.unsqueeze(1), -torch.inf).softmax(2).to(right.dtype)
    over_left = scores.masked_fill(left_padding.unsqueeze(2), -torch.inf).softmax(1).to(left.dtype)
    return over_right @ right, over_left.transpose(1, 2) @ left


def feed_forward(input_dim: int, hidden_dim: int, dropout: float) -> nn.Sequential:
    """Two layers with ReLU, over the last axis: the paper's F, G, H and F_intra."""
    return nn.Sequential(
        nn.Dropout(dropout),
        nn.Linear(input_dim, hidden_dim),
        nn.ReLU(),
        nn.Dropout(dropout),
        nn.Linear(hidden_dim, hidden_dim),
        nn.ReLU(),
    )


class IntraAttention(nn.Module):
    """Each word beside the words of its own sentence that it attends to (equation 7): (N, T, C) to (N, T, 2C)."""

    def __init__(self, input_dim: int, hidden_dim: int, dropout: float):
        super().__init__()
        self.attend = feed_forward(input_dim, hidden_dim, dropout)
        self.bias = nn.Parameter(torch.zeros(2 * DISTANCES + 1))

    def forward(self, words: Tensor, padding: Tensor) -> Tensor:
        places = torch.arange(words.shape[1], device=words.device)
        distance = (places.unsqueeze(0) - places.unsqueeze(1)).clamp(-DISTANCES, DISTANCES)
        seen = self.attend(words)
        scores = seen @ seen.transpose(1, 2) + self.bias[distance + DISTANCES]
        scores = scores.float().masked_fill(padding.unsqueeze(1), -torch.inf)
        return torch.cat([words, scores.softmax(2).to(words.dtype) @ words], 2)


@register_classifier("decomposable_attention", DecomposableConfig)
class DecomposableAttention(nn.Module):
    """Attend, compare and aggregate. Words alone decide: their order counts only through intra-sentence attention.

    The model has no vector of one sentence alone.

    Args:
        input_dim: of a word.
        hidden_dim: of every layer.
        intra_attention: attend within each sentence first (section 3.4).
        dropout: before each layer.
        enhanced: compare and pool as ESIM does (Chen et al. 2017, equations 14 to 20): difference and product beside
            the two, and mean and maximum instead of the sum, which grows with the sentence.
    """

    def __init__(
        self,
        input_dim: int,
        hidden_dim: int,
        intra_attention: bool = False,
        dropout: float = 0.0,
        enhanced: bool = False,
    ):
        super().__init__()
        self.enhanced = enhanced
        self.intra = IntraAttention(input_dim, hidden_dim, dropout) if intra_attention else None
        word_dim = 2 * input_dim if intra_attention else input_dim
        self.attend = feed_forward(word_dim, hidden_dim, dropout)
        self.compare = feed_forward((4 if enhanced else 2) * word_dim, hidden_dim, dropout)
        self.aggregate = feed_forward((4 if enhanced else 2) * hidden_dim, hidden_dim, dropout)
        self.decide = nn.Linear(hidden_dim, 1)

    def forward(self, left: Tensor, right: Tensor, left_padding: Tensor, right_padding: Tensor) -> Tensor:
        if self.intra is not None:
            left, right = self.intra(left, left_padding), self.intra(right, right_padding)
        scores = self.attend(left) @ self.attend(right).transpose(1, 2)  # equation 1
        right_seen, left_seen = soft_align(scores, left, right, left_padding, right_padding)
        pooled = []
        for own, seen, padding in ((left, right_seen, left_padding), (right, left_seen, right_padding)):
            if self.enhanced:
                compared = self.compare(torch.cat([own, seen, own - seen, own * seen], 2))
                pooled += [mean_pool(compared, padding), max_pool(compared, padding)]
            else:
                compared = self.compare(torch.cat([own, seen], 2))  # equation 3
                pooled.append(compared.masked_fill(padding.unsqueeze(-1), 0).sum(1))  # equation 4
        return self.decide(self.aggregate(torch.cat(pooled, 1))).squeeze(1)
