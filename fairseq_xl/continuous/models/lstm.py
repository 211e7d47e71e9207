"""``continuous_lstm``: the attention encoder-decoder of the papers, with a continuous or a softmax output."""

from __future__ import annotations

from typing import Any

import torch
import torch.nn.functional as F
from fairseq.data import Dictionary
from fairseq.models import FairseqEncoder, FairseqEncoderDecoderModel, FairseqIncrementalDecoder, register_model
from torch import Tensor, nn

from fairseq_xl.continuous.models.config import ContinuousLSTMConfig, Iwslt16Config, TinyConfig
from fairseq_xl.continuous.models.output import VectorOutput, learnt_words, target_table, vector_dim
from fairseq_xl.continuous.models.recurrence import FedRecurrence, FusedRecurrence, State
from fairseq_xl.continuous.models.targets import TargetTable
from fairseq_xl.io.errors import InputError
from fairseq_xl.modules.attention import Attention
from fairseq_xl.modules.recurrent import BidirectionalLSTM, initialise_uniform, pack_left, packed_places


class ContinuousLSTMEncoder(FairseqEncoder):
    """Embeddings and a bidirectional LSTM. Padding on either side never matters."""

    def __init__(self, cfg: ContinuousLSTMConfig, dictionary: Dictionary):
        super().__init__(dictionary)
        self.pad = dictionary.pad()
        self.limit = cfg.max_source_positions
        self.embed_tokens = nn.Embedding(len(dictionary), cfg.encoder_embed_dim, self.pad)
        nn.init.uniform_(self.embed_tokens.weight, -0.1, 0.1)
        nn.init.zeros_(self.embed_tokens.weight[self.pad])
        self.lstm = BidirectionalLSTM(cfg.encoder_embed_dim, cfg.encoder_hidden_dim, cfg.encoder_layers, cfg.dropout)
        self.dropout = cfg.dropout

    def forward(self, src_tokens: Tensor, src_lengths: Tensor | None = None) -> dict[str, Tensor]:
        """src_tokens (N, S), padded on either side; ``src_lengths`` is not needed.

        Returns:
            dict of ``states`` (N, S, C), ``final`` (N, layers, C) and ``padding`` (N, S) bool, all with padding last,
            and ``places`` (N, S). The last says which state belongs to each column of ``src_tokens``.
        """
        tokens, lengths = pack_left(src_tokens, self.pad)
        x = F.dropout(self.embed_tokens(tokens.t()), self.dropout, self.training)
        states, final = self.lstm(x, lengths)
        states = F.dropout(states, self.dropout, self.training)
        return {
            "states": states.transpose(0, 1),
            "final": final.transpose(0, 1),
            "padding": tokens.eq(self.pad),
            "places": packed_places(src_tokens, self.pad),
        }

    def reorder_encoder_out(self, encoder_out: dict[str, Tensor], new_order: Tensor) -> dict[str, Tensor]:
        return {name: x.index_select(0, new_order) for name, x in encoder_out.items()}

    def max_positions(self) -> int:
        return self.limit


class ContinuousLSTMDecoder(VectorOutput, FairseqIncrementalDecoder):
    """LSTM over target vectors with attention; predicts vectors (continuous) or logits (softmax).

    ``targets`` is the frozen table, present for a continuous output only.
    """

    def __init__(self, cfg: ContinuousLSTMConfig, dictionary: Dictionary, targets: TargetTable | None):
        super().__init__(dictionary)
        self.limit = cfg.max_target_positions
        self.dropout = cfg.dropout
        dim = vector_dim(cfg, targets)
        hidden = cfg.decoder_hidden_dim
        embed_dim = cfg.decoder_embed_dim or hidden

        if cfg.decoder_layers < 1:
            raise ValueError(f"a decoder of {cfg.decoder_layers} layers: give 1 or more")
        self.set_output(cfg, dictionary, targets)
        self.embed_tokens = learnt_words(cfg, dictionary, targets)
        self.embed_projection = nn.Linear(dim, embed_dim, bias=False)

        # Each decoder layer has a bridge from the encoder layer of the same height, or else from the topmost. Any two
        # numbers of layers therefore go together.
        self.bridge_from = [min(i, cfg.encoder_layers - 1) for i in range(cfg.decoder_layers)]
        bridge = [nn.Linear(cfg.encoder_hidden_dim, 2 * hidden) for _ in range(cfg.decoder_layers)]
        self.bridge = nn.ModuleList(bridge)

        attention = Attention(str(cfg.attention), hidden, cfg.encoder_hidden_dim)
        combine = nn.Linear(cfg.encoder_hidden_dim + hidden, hidden, bias=False)
        recurrence = FedRecurrence if cfg.input_feeding else FusedRecurrence
        self.recurrence = recurrence(embed_dim, hidden, cfg.decoder_layers, cfg.dropout, attention, combine)
        self.output_projection = nn.Linear(hidden, dim)
        initialise_uniform(self.embed_projection)
        initialise_uniform(self.recurrence)
        initialise_uniform(self.bridge)
        initialise_uniform(self.output_projection)
        self.add_softmax(cfg, dictionary, targets, self.embed_tokens)

    def forward(
        self,
        prev_output_tokens: Tensor,
        encoder_out: dict[str, Tensor],
        incremental_state: dict[str, dict[str, Tensor | None]] | None = None,
    ) -> tuple[Tensor, dict[str, list[Tensor]]]:
        """Decode with teacher forcing, or one step if ``incremental_state`` is given.

        Returns:
            vectors (N, T, d) or logits (N, T, V), and a dict of lists with one item each. ``attn`` is (N, T, S). For
            vectors there is ``norm`` (N, T), their norms.
        """
        if incremental_state is not None:
            prev_output_tokens = prev_output_tokens[:, -1:]
        x = F.dropout(self.read(prev_output_tokens), self.dropout, self.training)
        state = self._state(encoder_out, incremental_state)
        features, weights, state = self.recurrence(x, state, encoder_out["states"], encoder_out["padding"])
        if incremental_state is not None:
            hidden, cell, feed = state
            kept = {"hidden": hidden, "cell": cell, "feed": feed}
            self.set_incremental_state(incremental_state, "state", kept)
        features = F.dropout(features, self.dropout, self.training)
        output = self.output_layer(features)
        # Weights for the source as it was given: a caller that asks for them does not know of packing.
        places = encoder_out["places"].unsqueeze(1).expand_as(weights)
        extra = self.norms(output)
        extra["attn"] = [weights.gather(2, places)]
        return output, extra

    def read(self, words: Tensor) -> Tensor:
        """The recurrence's inputs (N, T, E) for words (N, T)."""
        if self.embed_tokens is not None:
            return self.embed_projection(self.embed_tokens(words))
        assert self.targets is not None
        return self.embed_projection(self.targets(words).to(self.embed_projection.weight.dtype))

    def _state(
        self, encoder_out: dict[str, Tensor], incremental_state: dict[str, dict[str, Tensor | None]] | None
    ) -> State:
        kept = None if incremental_state is None else self.get_incremental_state(incremental_state, "state")
        return self.first_state(encoder_out) if kept is None else (kept["hidden"], kept["cell"], kept["feed"])

    def first_state(self, encoder_out: dict[str, Tensor]) -> State:
        """The state before the first word, from the encoder's last states."""
        final = encoder_out["final"]
        bridged = [layer(final[:, depth]) for layer, depth in zip(self.bridge, self.bridge_from, strict=True)]
        hidden, cell = torch.stack(bridged, 1).chunk(2, -1)
        return torch.tanh(hidden), cell, torch.zeros_like(hidden[:, 0])

    def reorder_incremental_state(self, incremental_state: Any, new_order: Tensor) -> None:
        state = self.get_incremental_state(incremental_state, "state")
        if state is not None:
            moved = {name: part.index_select(0, new_order) for name, part in state.items()}
            self.set_incremental_state(incremental_state, "state", moved)

    def max_positions(self) -> int:
        return self.limit


@register_model("continuous_lstm", dataclass=ContinuousLSTMConfig)
class ContinuousLSTM(FairseqEncoderDecoderModel):
    """Bidirectional LSTM encoder, attention, LSTM decoder that predicts target word vectors."""

    def forward(
        self,
        src_tokens: Tensor,
        src_lengths: Tensor | None,
        prev_output_tokens: Tensor,
        incremental_state: dict[str, dict[str, Tensor | None]] | None = None,
    ) -> tuple[Tensor, dict[str, list[Tensor]]]:
        """What the decoder returns."""
        encoder_out = self.encoder(src_tokens, src_lengths)
        return self.decoder(prev_output_tokens, encoder_out, incremental_state)

    @classmethod
    def build_model(cls, cfg: ContinuousLSTMConfig, task: Any) -> ContinuousLSTM:
        """Raises: InputError: Vectors are missing, unreadable or unfit, or sizes do not go together."""
        source, target = task.source_dictionary, task.target_dictionary
        try:
            targets = target_table(cfg, target)
            encoder = ContinuousLSTMEncoder(cfg, source)
            return cls(encoder, ContinuousLSTMDecoder(cfg, target, targets))
        except ValueError as error:
            raise InputError(str(error)) from error


@register_model("continuous_lstm_iwslt16", dataclass=Iwslt16Config)
class ContinuousLSTMIwslt16(ContinuousLSTM):
    """The papers' sizes."""


@register_model("continuous_lstm_tiny", dataclass=TinyConfig)
class ContinuousLSTMTiny(ContinuousLSTM):
    """Sizes for tests."""
