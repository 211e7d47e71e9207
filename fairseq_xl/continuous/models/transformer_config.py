"""The options of ``continuous_transformer``: those of fairseq's Transformer and those of a continuous output.

No ``from __future__ import annotations`` here: fairseq reads the fields' types to build its parser.
"""

from collections.abc import Iterator
from dataclasses import dataclass, fields, make_dataclass
from types import SimpleNamespace
from typing import Any, Optional

from fairseq.dataclass import FairseqDataclass
from fairseq.models.transformer import TransformerConfig
from fairseq.models.transformer.transformer_config import DecoderConfig, EncDecBaseConfig, QuantNoiseConfig

from fairseq_xl.continuous.models.config import VectorOutputConfig
from fairseq_xl.io.errors import InputError
from fairseq_xl.io.settings import option
from fairseq_xl.training.presets import preset

_PARTS = {"encoder": EncDecBaseConfig, "decoder": DecoderConfig, "quant_noise": QuantNoiseConfig}

# Sizes for tens to hundreds of thousands of pairs. fairseq's defaults suit millions.
_DEFAULTS = {
    **{"encoder_embed_dim": 256, "encoder_ffn_embed_dim": 1024},
    **{"encoder_attention_heads": 4, "encoder_layers": 4},
    **{"decoder_embed_dim": 256, "decoder_ffn_embed_dim": 1024},
    **{"decoder_attention_heads": 4, "decoder_layers": 4},
}

REFUSED = {
    "share_all_embeddings": "the decoder reads and predicts target vectors, which the encoder cannot share",
    "merge_src_tgt_embed": "the decoder reads and predicts target vectors, which the encoder cannot share",
    "share_decoder_input_output_embed": "a continuous output is tied to the decoder's input unless "
    "--untie-decoder-input is given, a softmax by --decoder-output softmax_tied",
    "adaptive_softmax_cutoff": "--decoder-output continuous has no softmax whose cost grows with the vocabulary, and "
    "the baselines softmax and softmax_tied differ from it in nothing else",
    "encoder_embed_path": "to begin with trained weights, give a Transformer's checkpoint with --encoder-from",
    "decoder_embed_path": "the decoder's input and output are the vectors of --target-vectors",
    "no_cross_attention": "without it the decoder would not know which source words it translates",
}
"""fairseq's options that mean nothing here -> why. A user who gives one reads this."""

_LEFT_OUT = {
    *("decoder_input_dim", "decoder_output_dim"),  # They follow from the target vectors and the decoder's width.
    *("encoder_layers_to_keep", "decoder_layers_to_keep"),  # They are for the checkpoints of the stock model alone.
    *("encoder_xformers_att_config", "decoder_xformers_att_config"),  # They need a library of their own.
    *("base_layers", "base_sublayers", "base_shuffle"),  # Their kernel needs one, too.
    *("adaptive_input", "adaptive_softmax_dropout", "adaptive_softmax_factor"),
    *("tie_adaptive_weights", "tie_adaptive_proj"),
    *("char_inputs", "relu_dropout", "export"),  # of old checkpoints and TorchScript
}


def _flat_fields(config: type, prefix: str = "") -> Iterator[tuple[str, Any, Any]]:
    """fairseq's nested options under their names on the command line: ``encoder.layers`` as ``encoder_layers``."""
    for given in fields(config):
        name = prefix + given.name
        if given.name in _PARTS and not prefix:
            yield from _flat_fields(_PARTS[given.name], f"{name}_")
        elif given.name != "_name" and name not in _LEFT_OUT:
            text = given.metadata.get("help", "")
            if prefix:
                text = f"{prefix.rstrip('_').replace('_', ' ')}: {text}"
            default = _DEFAULTS.get(name, given.default)
            yield name, given.type, option(text, default)


StockOptions: Any = make_dataclass("StockOptions", list(_flat_fields(TransformerConfig)), bases=(FairseqDataclass,))
"""fairseq keeps the options of its Transformer in nested parts. Its own command line cannot fill these for a model with
a dataclass. Flat options work there and in ``fairseq-hydra-train``."""


@dataclass
class ContinuousTransformerConfig(VectorOutputConfig, StockOptions):
    """Sizes for tens to hundreds of thousands of sentence pairs: 256 units, 4 + 4 layers, 4 heads."""

    encoder_from: Optional[str] = option(  # noqa: UP045
        "when a training starts, take the encoder's weights from this checkpoint. It is a Transformer, fairseq's own "
        "or continuous_transformer, with the same sizes and the same source dictionary (fairseq-preprocess --srcdict)",
        None,
    )


@preset
class TransformerIwsltConfig(ContinuousTransformerConfig):
    """The sizes of fairseq's ``transformer_iwslt_de_en``."""

    encoder_embed_dim: int = 512
    encoder_layers: int = 6
    decoder_embed_dim: int = 512
    decoder_layers: int = 6


@preset
class TransformerTinyConfig(ContinuousTransformerConfig):
    """For tests and first steps."""

    encoder_embed_dim: int = 32
    encoder_ffn_embed_dim: int = 64
    encoder_layers: int = 2
    encoder_attention_heads: int = 2
    decoder_embed_dim: int = 32
    decoder_ffn_embed_dim: int = 64
    decoder_layers: int = 2
    decoder_attention_heads: int = 2
    dropout: float = 0.0


def stock_config(cfg: ContinuousTransformerConfig) -> TransformerConfig:
    """The nested form of the options, which fairseq's encoder and decoder read.

    Raises:
        InputError: an option of :data:`REFUSED`, or a width that its heads cannot share.
    """
    for name, reason in REFUSED.items():
        if getattr(cfg, name):
            option = name.replace("_", "-")
            raise InputError(f"continuous_transformer does without --{option}: {reason}")
    for side in ("encoder", "decoder"):
        width, heads = getattr(cfg, f"{side}_embed_dim"), getattr(cfg, f"{side}_attention_heads")
        if width % heads:
            raise InputError(
                f"--{side}-embed-dim {width} is no multiple of --{side}-attention-heads {heads}: each head takes an "
                "equal part"
            )
    names = [f.name for f in fields(StockOptions) if f.name != "_name"]
    made = TransformerConfig.from_namespace(SimpleNamespace(**{name: getattr(cfg, name) for name in names}))
    made.decoder.input_dim = made.decoder.output_dim = made.decoder.embed_dim
    # as fairseq's own model reads it: offloading implies checkpointing
    made.checkpoint_activations = made.checkpoint_activations or made.offload_activations
    return made
