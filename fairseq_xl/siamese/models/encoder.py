"""The encoder of both sentences of a pair: character n-grams to one vector (Choudhary et al. 2018, section 3.2)."""

from __future__ import annotations

from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from fairseq_xl.modules import pooling
from fairseq_xl.modules.recurrent import BidirectionalLSTM, initialise_uniform, pack_left

KINDS = ("lstm", "gru", "cnn", "bag")
POOLINGS = ("last", *pooling.KINDS, "attention")
ORDERS = ("dense_relu", "relu_dense", "dense")


@dataclass(frozen=True)
class EncoderSizes:
    """The sizes and kinds of a :class:`SiameseEncoder`. The defaults are the paper's where it says them."""

    embed_dim: int = 100
    hidden_dim: int = 256
    layers: int = 1
    sentence_dim: int = 128
    encoder_kind: str = "lstm"
    pooling: str = "last"
    dense_order: str = "dense_relu"
    dropout: float = 0.0
    unit_dropout: float = 0.0
    ngram_orders: int = 1

    def check(self) -> None:
        """Raises: ValueError: sizes or kinds do not go together."""
        if self.encoder_kind not in KINDS or self.pooling not in POOLINGS or self.dense_order not in ORDERS:
            raise ValueError(f"no such encoder: {self.encoder_kind}, {self.pooling}, {self.dense_order}")
        if self.pooling == "last" and self.encoder_kind in ("cnn", "bag"):
            raise ValueError(f"a {self.encoder_kind} encoder has no last state: choose max, mean or attention pooling")
        if min(self.embed_dim, self.hidden_dim, self.layers, self.sentence_dim, self.ngram_orders) < 1:
            raise ValueError(
                f"an encoder has sizes from 1, not {self.embed_dim}, {self.hidden_dim}, {self.layers}, "
                f"{self.sentence_dim} (embedding, hidden, layers, sentence)"
            )
        if not (0 <= self.dropout < 1 and 0 <= self.unit_dropout < 1):
            raise ValueError(f"a dropout is from 0 to below 1, not {self.dropout:g} and {self.unit_dropout:g}")
        if self.hidden_dim % 2:
            raise ValueError(f"the two directions share {self.hidden_dim} units, which is odd")


def length_groups(lengths: Tensor, smallest: int = 16, waste: float = 0.15) -> list[Tensor]:
    """Row numbers in groups of similar length, so that little is padded.

    A group closes once it has ``smallest`` rows and the next one would make more than ``waste`` of it padding.
    """
    order = torch.argsort(lengths, stable=True)
    groups, start, total = [], 0, 0
    sorted_lengths = lengths[order].tolist()
    for i, length in enumerate(sorted_lengths):
        rows = i - start
        if rows >= smallest and total + length < (1 - waste) * (rows + 1) * length:
            groups.append(order[start:i])
            start, total = i, 0
        total += length
    groups.append(order[start:])
    return groups


class SiameseEncoder(nn.Module):
    """n-gram embeddings, a bidirectional recurrence (or a variant), pooling, and a dense layer with ReLU.

    A one-hot vector times a learned matrix is a row of that matrix: the embedding.

    Args:
        vocabulary: entries of the dictionary.
        pad: index of padding.
        unknown: index of n-grams that training has not seen.
        sizes: all other settings.

    Raises:
        ValueError: sizes do not go together.
    """

    def __init__(self, vocabulary: int, pad: int, unknown: int, sizes: EncoderSizes):
        super().__init__()
        sizes.check()
        self.sizes, self.pad, self.unknown = sizes, pad, unknown
        self.embed = nn.Embedding(vocabulary, sizes.embed_dim, pad)
        width = sizes.hidden_dim
        self.body: BidirectionalLSTM | Convolutions | None
        if sizes.encoder_kind == "lstm":
            self.body = BidirectionalLSTM(sizes.embed_dim, width, sizes.layers, sizes.dropout)
        elif sizes.encoder_kind == "gru":
            self.body = BidirectionalGRU(sizes.embed_dim, width, sizes.layers, sizes.dropout)
        elif sizes.encoder_kind == "cnn":
            self.body = Convolutions(sizes.embed_dim, width)
        else:
            width = sizes.embed_dim
            self.body = None
        if sizes.pooling == "attention":
            self.attention = nn.Linear(width, 1, bias=False)
        self.dense = nn.Linear(width, sizes.sentence_dim)
        # Embeddings have torch's unit variance, and the bias starts at zero. The sentences' part of a vector must not
        # be small beside a constant part. All cosines would then start near 1, where their gradient vanishes.
        nn.init.xavier_uniform_(self.dense.weight)
        nn.init.zeros_(self.dense.bias)

    def begin_with(self, vectors: Tensor) -> None:
        """Let embeddings begin at these (V, e), but where a row is zero."""
        known = vectors.any(1)
        with torch.no_grad():
            self.embed.weight[known] = vectors[known]

    def forward(self, tokens: Tensor, lengths: Tensor | None = None) -> Tensor:
        """(N, d) from tokens (N, T), padded on either side. ``lengths`` is not needed.

        Rows are encoded in groups of similar length, each as wide as its own longest row.
        """
        orders = self.sizes.ngram_orders
        tokens, lengths = pack_left(tokens, self.pad)
        groups = length_groups(lengths)
        if len(groups) == 1:
            return self._encode(tokens, lengths // orders)
        found = [self._encode(tokens[g, : int(lengths[g[-1]])], lengths[g] // orders) for g in groups]
        back = torch.argsort(torch.cat(groups))
        return torch.cat(found)[back]

    def _encode(self, tokens: Tensor, lengths: Tensor) -> Tensor:
        if self.training and self.sizes.unit_dropout:
            lost = torch.rand(tokens.shape, device=tokens.device) < self.sizes.unit_dropout
            tokens = tokens.masked_fill(lost & tokens.ne(self.pad), self.unknown)
        rows, width = tokens.shape
        orders = self.sizes.ngram_orders
        x = self.embed(tokens).view(rows, width // orders, orders, -1).sum(2).transpose(0, 1)  # (T, N, e)
        return self.of_places(x, lengths)

    def of_places(self, x: Tensor, lengths: Tensor) -> Tensor:
        """(N, d) from embedded places (T, N, e), padded at the end; lengths (N,), each at least 1."""
        x = F.dropout(x, self.sizes.dropout, self.training)
        pooled = self._pooled(x, lengths)
        pooled = F.dropout(pooled, self.sizes.dropout, self.training)
        if self.sizes.dense_order == "relu_dense":
            return self.dense(pooled.relu())
        dense = self.dense(pooled)
        return dense.relu() if self.sizes.dense_order == "dense_relu" else dense

    def _pooled(self, x: Tensor, lengths: Tensor) -> Tensor:
        """(N, width) from embedded positions (T, N, e)."""
        states = x
        if isinstance(self.body, Convolutions):
            states = self.body(x, lengths)
        elif self.body is not None:
            states, final = self.body(x, lengths)
            if self.sizes.pooling == "last":
                return final[-1]
        padding = torch.arange(len(states), device=x.device).unsqueeze(1) >= lengths  # (T, N)
        if self.sizes.pooling in pooling.KINDS:
            return pooling.pool(self.sizes.pooling, states.transpose(0, 1), padding.t())
        weights = self.attention(torch.tanh(states)).squeeze(-1)
        weights = weights.masked_fill(padding, -torch.inf).softmax(0)
        return (weights.unsqueeze(-1) * states).sum(0)


class BidirectionalGRU(BidirectionalLSTM):
    """The same with gated recurrent units."""

    def __init__(self, input_dim: int, hidden_dim: int, layers: int, dropout: float):
        super().__init__(input_dim, hidden_dim, layers, dropout)
        for name in ("forwards", "backwards"):
            stack = getattr(self, name)
            setattr(self, name, nn.ModuleList(nn.GRU(x.input_size, x.hidden_size) for x in stack))
        initialise_uniform(self)


class Convolutions(nn.Module):
    """Filters over 1, 3 and 5 positions with ReLU, side by side."""

    WIDTHS = (1, 3, 5)

    def __init__(self, input_dim: int, hidden_dim: int):
        super().__init__()
        share, more = divmod(hidden_dim, len(self.WIDTHS))
        outputs = [share + (i < more) for i in range(len(self.WIDTHS))]
        self.filters = nn.ModuleList(
            nn.Conv1d(input_dim, out, k, padding=k // 2) for k, out in zip(self.WIDTHS, outputs, strict=True)
        )

    def forward(self, x: Tensor, lengths: Tensor) -> Tensor:
        """(T, N, hidden_dim) from x (T, N, C). Padding reads as zeros, like places beyond the ends."""
        padding = torch.arange(len(x), device=x.device).unsqueeze(1) >= lengths
        x = x.masked_fill(padding.unsqueeze(-1), 0).permute(1, 2, 0)
        return torch.cat([f(x) for f in self.filters], 1).relu().permute(2, 0, 1)
