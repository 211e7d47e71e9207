"""``upos_lstm``: a bidirectional LSTM whose pooled states must suffice to tag a translation.

Liu, De Andrade, Osama 2019, section 3.1 and Table 1.
"""

from __future__ import annotations

import math
from typing import Any

import torch
import torch.nn.functional as F
from fairseq.data import Dictionary
from fairseq.models import FairseqDecoder, FairseqEncoder, FairseqEncoderDecoderModel, register_model
from torch import Tensor, nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

from fairseq_xl.io.errors import InputError
from fairseq_xl.modules.fingerprint import Fingerprint, NamedEmbedding
from fairseq_xl.modules.pooling import pool
from fairseq_xl.modules.recurrent import initialise_uniform
from fairseq_xl.syntactic.models.config import TinyConfig, UposLSTMConfig
from fairseq_xl.vectors.table import read_vectors

_BOUND = 0.1
"""Embeddings of pieces are drawn between this and its negative."""

_LEAST = {
    "encoder_layers": 1,
    "encoder_embed_dim": 1,
    "encoder_cell_dim": 1,
    "decoder_embed_dim": 1,
    "decoder_cell_dim": 1,
    "language_embed_dim": 0,
    "decoder_output_dim": 0,
}
"""The smallest that each size can be."""


class UposEncoder(FairseqEncoder):
    """Pieces to a sentence embedding; it is not told any language."""

    def __init__(self, cfg: UposLSTMConfig, dictionary: Dictionary):
        super().__init__(dictionary)
        self.pad = dictionary.pad()
        self.limit = cfg.max_source_positions
        self.dropout = cfg.dropout
        self.pooling = str(cfg.pooling)
        self.fingerprint = Fingerprint(dictionary.symbols, "source dictionary")
        self.embed_tokens = nn.Embedding(len(dictionary), cfg.encoder_embed_dim, self.pad)
        nn.init.uniform_(self.embed_tokens.weight, -_BOUND, _BOUND)
        nn.init.zeros_(self.embed_tokens.weight[self.pad])
        self.lstm = nn.LSTM(
            cfg.encoder_embed_dim,
            cfg.encoder_cell_dim,
            cfg.encoder_layers,
            dropout=cfg.dropout if cfg.encoder_layers > 1 else 0.0,
            bidirectional=True,
        )
        initialise_uniform(self.lstm)
        if cfg.encoder_embed_path:
            self._begin_with(cfg.encoder_embed_path)

    def _begin_with(self, path: str) -> None:
        """Vectors of a file for the pieces that it has, as wide spread as those that are drawn.

        Raises:
            InputError: a file that cannot be read, has another dimension, no piece, or vectors all alike.
        """
        weight, first = self.embed_tokens.weight, self.dictionary.nspecial
        table = read_vectors(path, self.dictionary.symbols[first:], weight.shape[1], progress=False)
        if not table.words:
            raise InputError(f"--encoder-embed-path {path} has no vector of any source piece: train it on pieces")
        vectors = torch.from_numpy(table.matrix)
        if not vectors.std() > 0:
            raise InputError(f"--encoder-embed-path {path} has the same number everywhere: train it on more text")
        with torch.no_grad():
            rows = [self.dictionary.index(piece) for piece in table.words]
            weight[rows] = (vectors * (_BOUND / math.sqrt(3) / vectors.std())).to(weight)

    def forward(self, src_tokens: Tensor, src_lengths: Tensor, **_: Any) -> dict[str, Tensor]:
        """src_tokens (N, S), padded at the end; src_lengths (N,), each at least 1.

        Returns:
            dict of ``pooled`` (N, 2C), the sentence embedding, and ``final`` (N, 4C). The second has the last layer's
            last hidden states of both directions, then their last cell states.
        """
        x = F.dropout(self.embed_tokens(src_tokens.t()), self.dropout, self.training)
        packed = pack_padded_sequence(x, src_lengths.cpu(), enforce_sorted=False)
        states, (hidden, cell) = self.lstm(packed)
        states = pad_packed_sequence(states, total_length=src_tokens.shape[1])[0]
        states = F.dropout(states, self.dropout, self.training).transpose(0, 1)
        return {
            "pooled": pool(self.pooling, states, src_tokens.eq(self.pad)),
            "final": torch.cat([hidden[-2], hidden[-1], cell[-2], cell[-1]], -1),
        }

    def max_positions(self) -> int:
        return self.limit


class UposDecoder(FairseqDecoder):
    """LSTM over tags; each step reads the previous tag, the target language and the sentence embedding.

    "The concatenation of last hidden and cell states" of the encoder becomes both states of the decoder through one
    linear layer.
    """

    def __init__(self, cfg: UposLSTMConfig, dictionary: Dictionary, languages: tuple[str, ...]):
        super().__init__(dictionary)
        self.limit = cfg.max_target_positions
        cell, sentence = cfg.decoder_cell_dim, 2 * cfg.encoder_cell_dim
        self.fingerprint = Fingerprint(dictionary.symbols, "target dictionary")
        self.embed_tokens = nn.Embedding(len(dictionary), cfg.decoder_embed_dim, dictionary.pad())
        self.embed_language = NamedEmbedding(languages, cfg.language_embed_dim)
        self.bridge = nn.Linear(2 * sentence, 2 * cell)
        self.lstm = nn.LSTM(cfg.decoder_embed_dim + cfg.language_embed_dim + sentence, cell)
        narrow = cfg.decoder_output_dim
        self.narrow = nn.Linear(cell, narrow, bias=False) if narrow else nn.Identity()
        self.output_projection = nn.Linear(narrow or cell, len(dictionary))
        initialise_uniform(self)
        nn.init.zeros_(self.embed_tokens.weight[dictionary.pad()])

    def forward(
        self, prev_output_tokens: Tensor, encoder_out: dict[str, Tensor], target_languages: Tensor, **_: Any
    ) -> tuple[Tensor, dict[str, Tensor]]:
        """Teacher-forced. prev_output_tokens (N, T); encoder_out of the encoder; target_languages (N,).

        Returns:
            logits (N, T, tags) and what the encoder gave.
        """
        tags = self.embed_tokens(prev_output_tokens.t())
        steps = (len(tags), -1, -1)
        language = self.embed_language(target_languages).expand(steps)
        pooled = encoder_out["pooled"].expand(steps)
        start = self.bridge(encoder_out["final"]).unsqueeze(0).chunk(2, -1)
        start = tuple(state.contiguous() for state in start)
        states, _ = self.lstm(torch.cat([tags, language, pooled], -1), start)
        return self.output_projection(self.narrow(states.transpose(0, 1))), encoder_out

    def max_positions(self) -> int:
        return self.limit


def _check(cfg: UposLSTMConfig) -> None:
    """Raises: InputError: a size or a dropout that torch would refuse without naming the option."""
    for name, least in _LEAST.items():
        if getattr(cfg, name) < least:
            raise InputError(f"--{name.replace('_', '-')} is {getattr(cfg, name)}: give {least} or more")
    if not 0 <= cfg.dropout <= 1:
        raise InputError(f"--dropout is {cfg.dropout}: give a number from 0 to 1, such as 0.2")


@register_model("upos_lstm", dataclass=UposLSTMConfig)
class UposLSTM(FairseqEncoderDecoderModel):
    """Language-agnostic encoder, and a decoder that predicts the tags of a translation."""

    @classmethod
    def build_model(cls, cfg: UposLSTMConfig, task: Any) -> UposLSTM:
        """task: offers the dictionaries and ``languages``, the names of the target languages.

        Raises:
            InputError: a size or a dropout that no model can have; what reading --encoder-embed-path raises.
        """
        _check(cfg)
        encoder = UposEncoder(cfg, task.source_dictionary)
        return cls(encoder, UposDecoder(cfg, task.target_dictionary, task.languages))

    def forward(
        self, src_tokens: Tensor, src_lengths: Tensor, prev_output_tokens: Tensor, target_languages: Tensor
    ) -> tuple[Tensor, dict[str, Tensor]]:
        """Logits (N, T, tags) and the encoder's output; see the encoder's and the decoder's ``forward``."""
        encoded = self.encoder(src_tokens, src_lengths)
        return self.decoder(prev_output_tokens, encoded, target_languages)

    def encode_sentences(self, tokens: Tensor, lengths: Tensor) -> Tensor:
        """Sentence embeddings (N, 2C) of tokens (N, S), padded at the end, of lengths (N,) of at least 1."""
        return self.encoder(tokens, lengths)["pooled"]


@register_model("upos_lstm_tiny", dataclass=TinyConfig)
class UposLSTMTiny(UposLSTM):
    """Sizes for tests."""
