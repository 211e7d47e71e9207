"""The options of ``upos_lstm`` and ``upos_translation``, with the help that ``fairseq-train --help`` shows.

No ``from __future__ import annotations`` here: fairseq reads the fields' types to build its parser.
"""

from dataclasses import dataclass
from typing import Optional

from fairseq.dataclass import ChoiceEnum, FairseqDataclass
from omegaconf import II

from fairseq_xl.io.settings import option
from fairseq_xl.modules.pooling import KINDS as POOLING_KINDS
from fairseq_xl.syntactic.data.directory import TARGETS
from fairseq_xl.training.presets import preset

_SKIPPED = "longer ones are skipped in training, and in validation with --skip-invalid-size-inputs-valid-test"


@dataclass
class UposLSTMConfig(FairseqDataclass):
    """The paper's sizes (Liu et al. 2019, Table 1)."""

    encoder_embed_dim: int = option("size of the embeddings of source pieces; raise it for more languages", 100)
    encoder_embed_path: Optional[str] = option(  # noqa: UP045
        "vectors that the source pieces begin from, such as `fairseq-xl vectors train` makes of `fairseq-xl embed "
        "source-pieces`, of --encoder-embed-dim numbers; try them for languages with little text",
        None,
    )
    encoder_cell_dim: int = option(
        "state of each encoder direction; sentence embeddings are twice as wide: less for a smaller index", 128
    )
    encoder_layers: int = option("encoder layers (the paper: 2); 1 is faster", 2)
    pooling: ChoiceEnum(list(POOLING_KINDS)) = option(  # type: ignore[valid-type]
        "how encoder states become the sentence embedding; max (the paper's) or mean, over all places", "max"
    )
    decoder_embed_dim: int = option("size of the embeddings of previous tags; raise it with --target pieces", 100)
    language_embed_dim: int = option(
        "size of the embeddings of target languages; 0 hides the language, for a single one", 20
    )
    decoder_cell_dim: int = option(
        "decoder state; the sentence embedding must do the work, so that more helps little", 512
    )
    decoder_output_dim: int = option(
        "size to which a linear layer brings decoder states before the softmax; 0 for none. Set it (100) with --target "
        "pieces, whose tens of thousands of symbols otherwise take most of the time",
        0,
    )
    dropout: float = option(
        "in the encoder: on embeddings, between layers, on its output; raise it against over-fitting", 0.2
    )
    max_source_positions: int = option(f"longest source, in pieces; {_SKIPPED}", 1024)
    max_target_positions: int = option(f"longest target, in tags; {_SKIPPED}", 1024)


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
    data: Optional[str] = option("data directory that fairseq-xl embed prepare made", None)  # noqa: UP045
    target: ChoiceEnum(list(TARGETS)) = option(  # type: ignore[valid-type]
        "what is predicted of the translation: its upos tags, or its pieces (the baseline that never sees a tag)",
        "upos",
    )
    pairs: str = option("pairs to train on, as fr-en,fr-es; all that have such targets when omitted", "")
    sampling_temperature: float = option(
        "T: a pair of n sentences has a share of n^(1/T) in each epoch. 1 takes every sentence once. Raise it, for "
        "example to 5, where small pairs lag behind",
        1.0,
    )
    own_share: Optional[float] = option(  # noqa: UP045
        "share of an epoch's sentences that are to have their own tags (pairs of a language with itself, of prepare "
        "--own-tags). Raise it to 0.8 for nearest neighbours of one language. Without it, these pairs are drawn as all "
        "others",
        None,
    )
    batches_of_one_pair: bool = option(
        "fill a batch with sentences of one pair instead of any. Use it with --tag-contrast, which compares the "
        "sentences of a batch: those of one language are harder to tell apart",
        False,
    )
    sentences_per_pair: int = option(
        "train on this many sentences of each pair, chosen by --seed: for learning curves; 0: all", 0
    )
    seed: int = II("common.seed")
