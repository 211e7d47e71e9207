"""The matchers as fairseq models, one ``--arch`` each.

No ``from __future__ import annotations`` here: fairseq reads the options' types to build its parser.
"""

from dataclasses import dataclass, field
from typing import Any

from fairseq.dataclass import ChoiceEnum, FairseqDataclass
from fairseq.models import BaseFairseqModel, register_model
from torch import Tensor, nn

from fairseq_xl.io.errors import InputError
from fairseq_xl.modules.identity import Fingerprint
from fairseq_xl.modules.recurrent import pack_left
from fairseq_xl.pairs.data.table import word_table
from fairseq_xl.pairs.models.classifiers import DIFFERENCES, FeatureMatcher, ManhattanLSTM
from fairseq_xl.pairs.models.decomposable import DecomposableAttention
from fairseq_xl.pairs.models.embedding import WordEmbedding
from fairseq_xl.pairs.models.esim import ESIM
from fairseq_xl.pairs.models.infersent import READERS, InferSent
from fairseq_xl.pairs.models.perceptron import ACTIVATIONS


@dataclass
class MatcherConfig(FairseqDataclass):
    hidden_dim: int = field(
        default=128,
        metadata={
            "help": "features that each reader of a sentence makes; even where it reads in both directions; more "
            "for more pairs"
        },
    )
    tune_vectors: bool = field(
        default=False,
        metadata={
            "help": "train the word vectors, too: for many pairs, or where the folder was prepared without vectors"
        },
    )
    project_dim: int = field(
        default=0,
        metadata={
            "help": "size of a learned projection of the word vectors, where they are wide and pairs are few; 0: none"
        },
    )
    dropout: float = field(default=0.2, metadata={"help": "between layers; raise it against over-fitting"})
    embed_dropout: float = field(
        default=0.0, metadata={"help": "of the features of a word's vector; raise it against over-fitting"}
    )
    word_dropout: float = field(
        default=0.0, metadata={"help": "share of words hidden in training: practice for unknown words"}
    )
    symmetric: bool = field(
        default=False,
        metadata={
            "help": "the mean of the logits of both orders of the two sentences: their order cannot matter; takes "
            "twice the time"
        },
    )


@dataclass
class PerceptronConfig(MatcherConfig):
    decide_dim: int = field(
        default=128, metadata={"help": "size of the two hidden layers that decide; less for few pairs"}
    )


@dataclass
class FeatureConfig(PerceptronConfig):
    hidden_dim: int = field(
        default=64, metadata={"help": "features of each convolution, LSTM and BiLSTM (the paper tried 32, 64 and 128)"}
    )
    difference: ChoiceEnum(list(DIFFERENCES)) = field(  # type: ignore[valid-type]
        default="signed",
        metadata={"help": "signed: a - b, the paper's; absolute: |a - b|, with which the order does not matter"},
    )


@dataclass
class DecomposableConfig(MatcherConfig):
    intra_attention: bool = field(
        default=False,
        metadata={
            "help": "attend within each sentence first, with a bias for each distance; for sentences whose "
            "order of words matters"
        },
    )
    enhanced: bool = field(
        default=False,
        metadata={
            "help": "compare words by difference and product, too, and pool comparisons by mean and maximum instead "
            "of their sum, as esim does; for sentences of very different lengths"
        },
    )
    project_dim: int = field(
        default=200,
        metadata={
            "help": "size of the learned projection of the word vectors (the paper's: 200), less for few pairs; 0: none"
        },
    )


@dataclass
class InferSentConfig(PerceptronConfig):
    hidden_dim: int = field(
        default=1200,
        metadata={
            "help": "size of a sentence's vector, both directions together (the paper's: 2 x 600); less is faster"
        },
    )
    decide_dim: int = field(default=512, metadata={"help": "size of the hidden layers that decide; less for few pairs"})
    decide_layers: int = field(
        default=1,
        metadata={
            "help": "hidden layers that decide; 1, with --activation sigmoid, is the paper's equation 4; "
            "more for many pairs"
        },
    )
    reader: ChoiceEnum(list(READERS)) = field(  # type: ignore[valid-type]
        default="bilstm_max",
        metadata={
            "help": "what makes a sentence's vector: a BiLSTM's states pooled by max or mean, the last states of a "
            "BiGRU or an LSTM, or a hierarchy of convolutions"
        },
    )
    activation: ChoiceEnum(list(ACTIVATIONS)) = field(  # type: ignore[valid-type]
        default="relu",
        metadata={"help": "of the hidden layers; sigmoid: as the corpus paper writes them, slower to learn"},
    )
    dropout: float = field(
        default=0.5, metadata={"help": "of the hidden layers that decide; raise it against over-fitting"}
    )


class Matcher(BaseFairseqModel):
    """Word vectors and a matcher of them. Subclasses name the matcher.

    ``forward`` gives logits (N,) of left_tokens (N, T) and right_tokens (N, U), padded on either side; each row has a
    word. A checkpoint loads with the dictionary it was trained with, and no other.
    """

    def __init__(self, cfg: MatcherConfig, task: Any):
        super().__init__()
        dictionary = task.source_dictionary
        self.fingerprint = Fingerprint(dictionary.symbols, "dictionary")
        self.embedding = WordEmbedding(
            word_table(task.prepared),
            dictionary.pad(),
            cfg.tune_vectors,
            cfg.project_dim,
            cfg.embed_dropout,
            cfg.word_dropout,
        )
        self.matcher = self.make(cfg, self.embedding.dim)
        self.pad, self.symmetric = dictionary.pad(), cfg.symmetric
        self.longest = task.prepared.wording.longest

    @classmethod
    def build_model(cls, cfg: MatcherConfig, task: Any) -> "Matcher":
        """Raises: InputError: sizes that do not go together; no vectors where they are not trained."""
        if not cfg.tune_vectors and task.prepared.manifest["vectors"] is None:
            raise InputError(
                f"{task.prepared.folder} was prepared without --vectors: prepare it with some, or train them with "
                "--tune-vectors"
            )
        try:
            return cls(cfg, task)
        except ValueError as error:
            raise InputError(str(error)) from error

    @staticmethod
    def make(cfg: MatcherConfig, input_dim: int) -> nn.Module:
        """The matcher of word vectors of ``input_dim`` features."""
        raise NotImplementedError

    def forward(self, left_tokens: Tensor, right_tokens: Tensor) -> Tensor:
        left, left_padding = self._words(left_tokens)
        right, right_padding = self._words(right_tokens)
        logits = self.matcher(left, right, left_padding, right_padding)
        if self.symmetric:
            logits = (logits + self.matcher(right, left, right_padding, left_padding)) / 2
        return logits

    def encode_sentences(self, tokens: Tensor, lengths: Tensor | None = None) -> Tensor:
        """(N, d) of tokens (N, T): what ``fairseq_xl.encode`` asks of a model.

        Raises:
            InputError: a matcher that only knows pairs.
        """
        encode = getattr(self.matcher, "encode", None)
        if encode is None:
            raise InputError(
                "this architecture reads two sentences together and has no vector of one: encode with a siamese_ "
                "one "
                "or infersent"
            )
        return encode(*self._words(tokens))

    def _words(self, tokens: Tensor) -> tuple[Tensor, Tensor]:
        tokens, _ = pack_left(tokens, self.pad)
        return self.embedding(tokens), tokens.eq(self.pad)

    def max_positions(self) -> int:
        """Words of a sentence: the folder's are cut to so many."""
        return self.longest


@register_model("siamese_lstm", dataclass=MatcherConfig)
class SiameseLSTM(Matcher):
    """MaLSTM: exp(-L1) of last states."""

    @staticmethod
    def make(cfg: MatcherConfig, input_dim: int) -> nn.Module:
        return ManhattanLSTM(input_dim, cfg.hidden_dim, cfg.dropout)


@register_model("siamese_conv", dataclass=FeatureConfig)
class SiameseConv(Matcher):
    """Convolutions of 1, 2 and 3 words."""

    extractors: tuple[str, ...] = ("conv",)

    @classmethod
    def make(cls, cfg: FeatureConfig, input_dim: int) -> nn.Module:
        return FeatureMatcher(
            input_dim, cls.extractors, cfg.hidden_dim, cfg.decide_dim, str(cfg.difference), cfg.dropout
        )


@register_model("siamese_conv_lstm", dataclass=FeatureConfig)
class SiameseConvLSTM(SiameseConv):
    """The convolutions and an LSTM."""

    extractors = ("conv", "lstm")


@register_model("siamese_conv_lstm_bilstm", dataclass=FeatureConfig)
class SiameseConvLSTMBiLSTM(SiameseConv):
    """The convolutions, an LSTM and a BiLSTM."""

    extractors = ("conv", "lstm", "bilstm")


@register_model("esim", dataclass=MatcherConfig)
class ESIMModel(Matcher):
    """Aligned words, read twice."""

    @staticmethod
    def make(cfg: MatcherConfig, input_dim: int) -> nn.Module:
        return ESIM(input_dim, cfg.hidden_dim, cfg.dropout)


@register_model("decomposable_attention", dataclass=DecomposableConfig)
class DecomposableAttentionModel(Matcher):
    """Aligned words without their order."""

    @staticmethod
    def make(cfg: DecomposableConfig, input_dim: int) -> nn.Module:
        return DecomposableAttention(input_dim, cfg.hidden_dim, cfg.intra_attention, cfg.dropout, cfg.enhanced)


@register_model("infersent", dataclass=InferSentConfig)
class InferSentModel(Matcher):
    """One vector a sentence, four ways to compare two."""

    @staticmethod
    def make(cfg: InferSentConfig, input_dim: int) -> nn.Module:
        return InferSent(
            input_dim,
            cfg.hidden_dim,
            cfg.decide_dim,
            str(cfg.reader),
            str(cfg.activation),
            cfg.decide_layers,
            cfg.dropout,
        )
