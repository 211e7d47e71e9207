"""``ssc_bilstm``: the Siamese encoder as a fairseq model.

SSC is the paper's name of it, Siamese Sentiment Classifier (Choudhary et al. 2018, Table 5). It learns any classes.

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
    embed_dim: int = option(
        "size of an n-gram's embedding: lower it for little text. Give 0 where `classify prepare --vectors` made the "
        "data: embeddings then begin at its vectors, and are of their size",
        100,
    )
    hidden_dim: int = option("states of the encoder, both directions together (even); smaller is faster", 256)
    layers: int = option("recurrent layers: give more for much text, each as slow as the first", 1)
    sentence_dim: int = option("size of a sentence's vector (the paper's: 128): raise it for many classes", 128)
    encoder_kind: ChoiceEnum(list(KINDS)) = option(  # type: ignore[valid-type]
        "what reads the n-grams. lstm (the paper's) and gru are bidirectional. Choose cnn for filters over 1, 3 and 5 "
        "n-grams. Choose bag for the embeddings themselves, which is many times as fast",
        "lstm",
    )
    pooling: ChoiceEnum(list(POOLINGS)) = option(  # type: ignore[valid-type]
        "how states become one vector. The paper's last is the final state of each direction. Choose max, mean or "
        "attention over all positions for little text: they learn faster from it",
        "last",
    )
    dense_order: ChoiceEnum(list(ORDERS)) = option(  # type: ignore[valid-type]
        "order of the dense layer and the ReLU. Choose dense_relu for the paper's equation 1, whose cosines begin at "
        "0. Choose relu_dense for the order in its text, or dense for no ReLU: their cosines begin at -1",
        "dense_relu",
    )
    dropout: float = option("of embeddings, between layers and of the pooled state; raise it against over-fitting", 0.0)
    unit_dropout: float = option("share of n-grams read as unseen in training: practice for text with unseen ones", 0.0)
    class_head: bool = option(
        "add a linear layer to classes, which criterion contrastive trains with --class-weight", False
    )


@register_model("ssc_bilstm", dataclass=SiameseConfig)
class SiameseModel(BaseFairseqModel):
    """One encoder for both sentences of a pair. A batch holds all sentences.

    ``head`` (to C logits, for a joint loss) is None unless asked for. Prediction never uses it.
    """

    def __init__(self, encoder: SiameseEncoder, head: nn.Linear | None = None):
        super().__init__()
        self.encoder, self.head = encoder, head

    @classmethod
    def build_model(cls, cfg: SiameseConfig, task: Any) -> "SiameseModel":
        """Raises: InputError: sizes or kinds do not go together."""
        chosen = {each.name: getattr(cfg, each.name) for each in fields(EncoderSizes) if each.name != "ngram_orders"}
        if cfg.embed_dim == 0:
            chosen["embed_dim"] = task.directory.vector_dim
            if not chosen["embed_dim"]:
                raise InputError(
                    "--embed-dim 0 takes the size of the data's vectors, and they have none: prepare them with "
                    "--vectors"
                )
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
