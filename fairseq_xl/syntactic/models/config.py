"""The options of ``upos_lstm`` and ``upos_translation``, with the help that ``fairseq-train --help`` shows.

No ``from __future__ import annotations`` here: fairseq reads the fields' types to build its parser.
"""

from dataclasses import dataclass, field
from typing import Optional

from fairseq.dataclass import ChoiceEnum, FairseqDataclass
from omegaconf import II

from fairseq_xl.modules.pooling import KINDS as POOLING_KINDS
from fairseq_xl.syntactic.data.prepared import TARGETS
from fairseq_xl.training.presets import preset


@dataclass
class UposLSTMConfig(FairseqDataclass):
    """The paper's sizes (Liu et al. 2019, Table 1)."""

    encoder_embed_dim: int = field(
        default=100, metadata={"help": "size of the embeddings of source pieces; raise it for more languages"}
    )
    encoder_cell_dim: int = field(
        default=128,
        metadata={
            "help": "state of each encoder direction; sentence embeddings are twice as wide: less for a smaller index"
        },
    )
    encoder_layers: int = field(default=2, metadata={"help": "encoder layers (the paper: 2); 1 is faster"})
    pooling: ChoiceEnum(list(POOLING_KINDS)) = field(  # type: ignore[valid-type]
        default="max",
        metadata={
            "help": "how encoder states become the sentence embedding; max (the paper's) or mean, over all places"
        },
    )
    decoder_embed_dim: int = field(
        default=100, metadata={"help": "size of the embeddings of previous tags; raise it with --target pieces"}
    )
    language_embed_dim: int = field(
        default=20,
        metadata={"help": "size of the embeddings of target languages; 0 hides the language, for a single one"},
    )
    decoder_cell_dim: int = field(
        default=512,
        metadata={"help": "decoder state; the sentence embedding must do the work, so that more helps little"},
    )
    decoder_output_dim: int = field(
        default=0,
        metadata={
            "help": "size to which a linear layer brings decoder states before the softmax; 0 for none. Set it "
            "(100) "
            "with --target pieces, whose tens of thousands of symbols otherwise take most of the time"
        },
    )
    dropout: float = field(
        default=0.2,
        metadata={
            "help": "in the encoder: on embeddings, between layers, on its output; raise it against over-fitting"
        },
    )
    max_source_positions: int = field(
        default=1024,
        metadata={
            "help": "longest source, in pieces; longer ones are skipped in training, and in validation with "
            "--skip-invalid-size-inputs-valid-test"
        },
    )
    max_target_positions: int = field(
        default=1024,
        metadata={
            "help": "longest target, in tags; longer ones are skipped in training, and in validation with "
            "--skip-invalid-size-inputs-valid-test"
        },
    )


@preset
class TinyConfig(UposLSTMConfig):
    """For tests and first steps."""

    encoder_embed_dim: int = 16
    encoder_cell_dim: int = 16
    decoder_embed_dim: int = 8
    language_embed_dim: int = 4
    decoder_cell_dim: int = 32
    dropout: float = 0.0


@dataclass
class UposTranslationConfig(FairseqDataclass):
    data: Optional[str] = field(  # noqa: UP045
        default=None, metadata={"help": "folder that fairseq-xl embed prepare made"}
    )
    target: ChoiceEnum(list(TARGETS)) = field(  # type: ignore[valid-type]
        default="upos",
        metadata={
            "help": "what is predicted of the translation: its upos tags, or its pieces (the baseline that never "
            "sees a tag)"
        },
    )
    pairs: str = field(
        default="", metadata={"help": "pairs to train on, as fr-en,fr-es; all that have such targets when omitted"}
    )
    sampling_temperature: float = field(
        default=1.0,
        metadata={
            "help": "a pair of n sentences has a share of n^(1/T) in each epoch: 1 takes every sentence once; "
            "raise "
            "it (5) where small pairs lag behind"
        },
    )
    sentences_per_pair: int = field(
        default=0,
        metadata={"help": "train on this many sentences of each pair, chosen by --seed: for learning curves; 0: all"},
    )
    seed: int = II("common.seed")
