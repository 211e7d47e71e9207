"""``continuous_transformer``: fairseq's Transformer with a continuous output, or a softmax like it."""

from __future__ import annotations

from typing import Any

from fairseq.data import Dictionary
from fairseq.models import FairseqEncoderDecoderModel, register_model
from fairseq.models.transformer import (
    TransformerConfig,
    TransformerDecoderBase,
    TransformerEncoderBase,
    TransformerModelBase,
)
from torch import Tensor, nn

from fairseq_xl.continuous.models.encoder_from import load_encoder
from fairseq_xl.continuous.models.output import VectorOutput, learnt_words, remember, resumes, target_table, vector_dim
from fairseq_xl.continuous.models.targets import TargetTable
from fairseq_xl.continuous.models.transformer_config import (
    ContinuousTransformerConfig,
    TransformerIwsltConfig,
    TransformerTinyConfig,
    stock_config,
)
from fairseq_xl.io.errors import InputError


class DecoderInput(nn.Module):
    """Vectors of words, brought to the decoder's width by a linear layer: what fairseq's decoder embeds with.

    fairseq multiplies embeddings by the square root of the width. The entries of a vector of length one then become
    about as large as those of the positions added to it.
    """

    def __init__(self, words: nn.Embedding | None, targets: TargetTable | None, dim: int, width: int, pad: int):
        super().__init__()
        self.embedding_dim = width
        self.padding_idx = pad
        self.words = words
        # A tuple registers nothing: the table belongs to the decoder and is saved once.
        self._targets = (targets,)
        self.projection = _linear(dim, width, bias=False)

    def forward(self, tokens: Tensor) -> Tensor:
        """(N, T, width) of tokens (N, T); zero for padding."""
        if self.words is not None:
            return self.projection(self.words(tokens))
        (targets,) = self._targets
        assert targets is not None
        return self.projection(targets(tokens).to(self.projection.weight.dtype))


class ContinuousTransformerDecoder(VectorOutput, TransformerDecoderBase):
    """fairseq's decoder over target vectors; predicts vectors (continuous) or logits (softmax).

    ``targets`` is the frozen table, present for a continuous output only.
    """

    def __init__(
        self,
        cfg: ContinuousTransformerConfig,
        stock: TransformerConfig,
        dictionary: Dictionary,
        targets: TargetTable | None,
    ):
        dim, width = vector_dim(cfg, targets), stock.decoder.embed_dim
        words = learnt_words(cfg, dictionary, targets)
        embed_tokens = DecoderInput(words, targets, dim, width, dictionary.pad())
        super().__init__(stock, dictionary, embed_tokens, output_projection=_linear(width, dim))
        self.set_output(cfg, dictionary, targets)
        self.add_softmax(cfg, dictionary, targets, words)

    def forward(
        self, prev_output_tokens: Tensor, *args: Any, features_only: bool = False, **options: Any
    ) -> tuple[Tensor, dict[str, Any]]:
        """Decode with teacher forcing, or one step if ``incremental_state`` is given.

        Returns:
            vectors (N, T, d) or logits (N, T, V), and a dict of lists with one item each. ``attn`` (N, T, S) is the
            mean over the heads of the last layer. For vectors there is ``norm`` (N, T), their norms.
        """
        output, extra = super().forward(prev_output_tokens, *args, features_only=features_only, **options)
        if not features_only:
            extra.update(self.norms(output))
        return output, extra


def _linear(inputs: int, outputs: int, bias: bool = True) -> nn.Linear:
    layer = nn.Linear(inputs, outputs, bias)
    nn.init.xavier_uniform_(layer.weight)
    if bias:
        nn.init.zeros_(layer.bias)
    return layer


@register_model("continuous_transformer", dataclass=ContinuousTransformerConfig)
class ContinuousTransformer(FairseqEncoderDecoderModel):
    """fairseq's Transformer encoder and decoder; the decoder predicts target word vectors."""

    @classmethod
    def build_model(cls, cfg: ContinuousTransformerConfig, task: Any) -> ContinuousTransformer:
        """Raises: InputError: Vectors are missing, unreadable or unfit. Sizes or options do not go together. The
        ``--encoder-from`` does not fit."""
        source, target = task.source_dictionary, task.target_dictionary
        stock = stock_config(cfg)
        targets = target_table(cfg, target)
        try:
            embedding = TransformerModelBase.build_embedding(stock, source, stock.encoder.embed_dim)
            encoder = TransformerEncoderBase(stock, source, embedding)
            decoder = ContinuousTransformerDecoder(cfg, stock, target, targets)
        except AssertionError as error:  # how fairseq's layers refuse options
            raise InputError(f"fairseq's Transformer cannot be built with these options: {error}") from error
        if cfg.encoder_from and not cfg.targets_in_checkpoint:
            if not resumes(cfg):
                load_encoder(encoder, cfg, cfg.encoder_from)
            remember(cfg, targets_in_checkpoint=True)
        return cls(encoder, decoder)


@register_model("continuous_transformer_iwslt", dataclass=TransformerIwsltConfig)
class ContinuousTransformerIwslt(ContinuousTransformer):
    """The sizes of fairseq's ``transformer_iwslt_de_en``."""


@register_model("continuous_transformer_tiny", dataclass=TransformerTinyConfig)
class ContinuousTransformerTiny(ContinuousTransformer):
    """Sizes for tests."""
