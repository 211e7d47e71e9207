"""The options of continuous models, with the help that ``fairseq-train --help`` shows.

No ``from __future__ import annotations`` here: fairseq reads the fields' types to build its parser.
"""

from dataclasses import dataclass
from typing import Optional

from fairseq.dataclass import ChoiceEnum, FairseqDataclass

from fairseq_xl.io.settings import option
from fairseq_xl.losses import SCORES
from fairseq_xl.modules.attention import KINDS as ATTENTION_KINDS
from fairseq_xl.training.presets import preset
from fairseq_xl.vectors.targets import MISSING_POLICIES, SPECIAL_POLICIES

OUTPUTS = ("continuous", "softmax", "softmax_tied")


@dataclass
class DecodingConfig(FairseqDataclass):
    """Options of continuous decoding. They are saved with a model and can be changed when translating:
    ``fairseq-generate … --model-overrides "{'decode_score': 'vmf_posterior'}"``."""

    decode_score: ChoiceEnum(list(SCORES)) = option(  # type: ignore[valid-type]
        "how predicted vectors score words. vmf_posterior is a softmax of kappa times the cosine, for vmf, "
        "vmf_posterior, and margin losses trained without dropout. Choose cosine for losses of the direction that were "
        "trained with dropout: a softmax of decode-scale times the cosine. Choose vmf_density for "
        "the density itself, as the paper decodes. In a beam search it favours long outputs of confident words",
        "vmf_posterior",
    )
    decode_scale: float = option("sharpness of decode-score cosine: only beam search and ensembles depend on it", 20.0)
    decode_csls_weight: float = option(
        "subtract this times each word's mean cosine to its 10 nearest words (CSLS). Raise it towards 1 when rare "
        "words from crowded regions intrude. Keep 0 for vmf_posterior, combined and a softmax's vectors, where CSLS "
        "lowers quality",
        0.5,
    )
    decode_prior_weight: float = option(
        "add this times the log relative frequency of each word in the dictionary: raise it when rare words intrude. "
        "End of sentence counts as the most frequent word, unknown as one occurrence",
        0.0,
    )


@dataclass
class VectorOutputConfig(DecodingConfig):
    """The options of the target table, and of a softmax baseline's output. They are the same for every architecture."""

    target_vectors: Optional[str] = option(  # noqa: UP045
        "file of target word vectors (.vec, .vec.gz, .bin, .npy with .vocab); see fairseq-xl vectors. Required for a "
        "continuous output; with a softmax output it initialises the softmax",
        None,
    )
    target_dim: int = option(
        "dimension of the target vectors; 0 takes the file's (300 for a softmax without a file). Set it to be told "
        "when a file has another",
        0,
    )
    special_vectors: ChoiceEnum(list(SPECIAL_POLICIES)) = option(  # type: ignore[valid-type]
        "vectors of end of sentence and unknown: seeded random directions, or the file's </s> and <unk>, for files "
        "where they were trained among the words",
        "random",
    )
    missing_vectors: ChoiceEnum(list(MISSING_POLICIES)) = option(  # type: ignore[valid-type]
        "what to do with dictionary words without a vector. Choose random to give each a random direction. Choose unk "
        "to map them to <unk> and never predict them. Choose error to refuse to start",
        "random",
    )
    min_coverage: float = option(
        "refuse a vector file that covers a smaller share of the dictionary; lower it where the gaps are known and "
        "accepted",
        0.5,
    )
    swap_vectors: Optional[str] = option(  # noqa: UP045
        "with --model-overrides, when translating: vectors in the same space for another target dictionary, so that a "
        "trained model can output words it never saw",
        None,
    )
    decoder_output: ChoiceEnum(list(OUTPUTS)) = option(  # type: ignore[valid-type]
        "continuous predicts vectors. softmax and softmax_tied are the papers' baselines and differ in the output "
        "layer alone: softmax_tied shares its weights with the decoder's input",
        "continuous",
    )
    softmax_init: ChoiceEnum(["vectors", "random"]) = option(  # type: ignore[valid-type]
        "how softmax weights start if --target-vectors is given (without it they are random). The less parallel text "
        "there is, the more the vectors help",
        "vectors",
    )
    untie_decoder_input: bool = option(
        "continuous output: learn the decoder's input embeddings instead of reading the frozen targets. Give it for "
        "targets that say little of a word, such as random ones. It adds as many parameters as a softmax",
        False,
    )
    output_scale: float = option(
        "continuous output: multiply predicted vectors by this constant. Give 100 for vmf's plain likelihood "
        "(--lambda1 0 --lambda2 1). Its norms are concentrations of hundreds and more, which weights that start near "
        "0 reach late. Other losses need no scale",
        1.0,
    )
    word_bias: bool = option(
        "continuous output: learn a number for each word that its score adds, as a softmax has, for vmf_posterior. "
        "Give it where <unk> or rare words intrude. Words that are swapped in share the mean",
        False,
    )
    targets_in_checkpoint: bool = option(
        "set by training itself: the checkpoint holds the table and all weights, so no file that the model began with "
        "is read again",
        False,
    )


@dataclass
class ContinuousLSTMConfig(VectorOutputConfig):
    """Sensible sizes for a few ten thousand to a few hundred thousand sentence pairs."""

    encoder_embed_dim: int = option("size of source embeddings: lower it for little text", 512)
    encoder_hidden_dim: int = option("size of encoder states, both directions together; raise it with more text", 512)
    encoder_layers: int = option("encoder layers: give more for much text, each as slow as the first", 1)
    decoder_embed_dim: int = option(
        "size to which a linear layer brings decoder inputs; 0 takes --decoder-hidden-dim, a smaller one saves weights",
        0,
    )
    decoder_hidden_dim: int = option("size of decoder states; raise it with more text", 512)
    decoder_layers: int = option("decoder layers; the papers' sizes have two, for some 200,000 sentences", 1)
    attention: ChoiceEnum(list(ATTENTION_KINDS)) = option(  # type: ignore[valid-type]
        "how decoder states score encoder states. dot has no weights and needs equal sizes. general has one matrix. "
        "additive is the slowest",
        "general",
    )
    input_feeding: bool = option(
        "feed the last attention vector to the next step (Luong et al. 2015). Training is slower, because a Python "
        "loop over steps replaces one fused call",
        False,
    )
    dropout: float = option(
        "on embeddings, between layers and before the output. A softmax needs it on little text (0.3). It holds a "
        "continuous output back (0)",
        0.0,
    )
    max_source_positions: int = option("longest source, in tokens; longer ones are skipped in training", 1024)
    max_target_positions: int = option("longest target, in tokens; longer ones are skipped in training", 1024)


@preset
class Iwslt16Config(ContinuousLSTMConfig):
    """The model of the papers (Bhat et al. 2019, section 4)."""

    encoder_embed_dim: int = 512
    encoder_hidden_dim: int = 1024
    decoder_embed_dim: int = 1024
    decoder_hidden_dim: int = 1024
    decoder_layers: int = 2
    dropout: float = 0.0


@preset
class TinyConfig(ContinuousLSTMConfig):
    """For tests and first steps."""

    encoder_embed_dim: int = 32
    encoder_hidden_dim: int = 32
    decoder_hidden_dim: int = 32
    dropout: float = 0.0
