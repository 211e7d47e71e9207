"""``ssc_bilstm``: the Siamese encoder as a fairseq model.

No ``from __future__ import annotations`` here: fairseq reads the options' types to build its parser.
"""

from dataclasses import dataclass, fields
from typing import Any

from fairseq.dataclass import ChoiceEnum, FairseqDataclass
from fairseq.models import BaseFairseqModel, register_model
from torch import Tensor, nn

from fairseq_xl.io.errors import InputError
from fairseq_xl.io.settings import option
from fairseq_xl.siamese.models.encoder import KINDS, ORDERS, POOLINGS, EncoderSizes, SiameseEncoder
from fairseq_xl.training.presets import preset


@dataclass
class SiameseConfig(FairseqDataclass):
    embed_dim: int = option("size of an n-gram's embedding; less for little text", 100)
    hidden_dim: int = option("states of the encoder, both directions together (even); smaller is faster", 256)
    layers: int = option("recurrent layers; more for much text, each as slow as the first", 1)
    sentence_dim: int = option("size of a sentence's vector (the paper's: 128); more for many classes", 128)
    encoder_kind: ChoiceEnum(list(KINDS)) = option(  # type: ignore[valid-type]
        "what reads the n-grams: bidirectional lstm (the paper's) or gru; cnn, filters over 1, 3 and 5 n-grams; bag, "
        "the embeddings themselves, which is many times as fast",
        "lstm",
    )
    pooling: ChoiceEnum(list(POOLINGS)) = option(  # type: ignore[valid-type]
        "how states become one vector: last, the final state of each direction (the paper's); or max, mean or "
        "attention over all positions, which learn faster from little text",
        "last",
    )
    dense_order: ChoiceEnum(list(ORDERS)) = option(  # type: ignore[valid-type]
        "dense_relu: the paper's equation 1, cosines from 0; relu_dense: as its text says; dense: no ReLU; the last "
        "two have cosines from -1",
        "dense_relu",
    )
    dropout: float = option("of embeddings, between layers and of the pooled state; raise it against over-fitting", 0.0)
    unit_dropout: float = option("share of n-grams read as unseen in training: practice for text with unseen ones", 0.0)
    class_head: bool = option(
        "add a linear layer to classes, which criterion contrastive trains with --class-weight", False
    )


@register_model("ssc_bilstm", dataclass=SiameseConfig)
class SiameseModel(BaseFairseqModel):
    """One encoder for both sentences of a pair; a batch holds them all.

    ``head`` (to C logits, for a joint loss) is None unless asked for; prediction never uses it.
    """

    def __init__(self, encoder: SiameseEncoder, head: nn.Linear | None = None):
        super().__init__()
        self.encoder, self.head = encoder, head

    @classmethod
    def build_model(cls, cfg: SiameseConfig, task: Any) -> "SiameseModel":
        """Raises: InputError: sizes or kinds that do not go together."""
        chosen = {each.name: getattr(cfg, each.name) for each in fields(EncoderSizes) if each.name != "ngram_orders"}
        sizes = EncoderSizes(**chosen, ngram_orders=len(task.directory.orders))
        dictionary = task.source_dictionary
        head = nn.Linear(cfg.sentence_dim, len(task.directory.classes)) if cfg.class_head else None
        try:
            return cls(SiameseEncoder(len(dictionary), dictionary.pad(), dictionary.unk(), sizes), head)
        except ValueError as error:
            raise InputError(str(error)) from error

    def forward(self, src_tokens: Tensor, src_lengths: Tensor | None = None) -> Tensor:
        """(N, d) from tokens (N, T) padded on either side."""
        return self.encoder(src_tokens, src_lengths)

    def encode_sentences(self, tokens: Tensor, lengths: Tensor | None = None) -> Tensor:
        """(N, d): what ``fairseq_xl.encode`` asks of a model."""
        return self.encoder(tokens, lengths)

    def max_positions(self) -> None:
        return None  # the task cuts sentences


@preset
class TinySiameseConfig(SiameseConfig):
    embed_dim: int = 16
    hidden_dim: int = 16
    sentence_dim: int = 16


@register_model("ssc_bilstm_tiny", dataclass=TinySiameseConfig)
class TinySiameseModel(SiameseModel):
    """Sizes for tests."""
