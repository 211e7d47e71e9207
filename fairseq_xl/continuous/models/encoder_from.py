"""``--encoder-from``: a new encoder begins with that of a trained Transformer, fairseq's own or one of ours."""

from __future__ import annotations

import logging
import os
from pathlib import Path
from typing import Any

from fairseq.data import Dictionary
from fairseq.utils import split_paths
from torch import Tensor, nn

from fairseq_xl.continuous.models.transformer_config import ContinuousTransformerConfig
from fairseq_xl.io.errors import InputError
from fairseq_xl.training import checkpoints

logger = logging.getLogger(__name__)

# Options that change the encoder. Weights of the same shape do not show all of these.
OPTIONS = (
    *("encoder_embed_dim", "encoder_ffn_embed_dim", "encoder_layers", "encoder_attention_heads"),
    *("encoder_normalize_before", "encoder_learned_pos", "activation_fn", "no_scale_embedding"),
    *("layernorm_embedding", "no_token_positional_embeddings"),
)
_POSITIONS = ("embed_positions._float_tensor", "embed_positions.weights")  # computed, not learnt


def load_encoder(encoder: nn.Module, cfg: ContinuousTransformerConfig, path: str | os.PathLike[str]) -> None:
    """Copy the weights of a checkpoint's encoder. The rest of the file is not used, and no code in it is run.

    Args:
        encoder: a ``TransformerEncoderBase``.
        cfg: its options.
        path: a checkpoint that fairseq-train wrote.

    Raises:
        InputError: The file is missing, truncated, not a checkpoint, or would run code. The model is of another kind,
            or has other sizes or options. The source dictionary is another one. The dictionaries are compared only
            if that of the training is still in its data folder.
    """
    state = checkpoints.read(path)
    here = encoder.state_dict()
    stored = {
        name.removeprefix("encoder."): weight
        for name, weight in state["model"].items()
        if name.startswith("encoder.") and not name.endswith(_POSITIONS)
    }
    if "layers.0.self_attn.q_proj.weight" not in stored:
        raise InputError(
            f"--encoder-from {path} holds no encoder of a Transformer: give a checkpoint of --arch transformer or "
            "continuous_transformer"
        )
    _check_options(_section(state, "model"), cfg, path)
    words, wanted = (len(part["embed_tokens.weight"]) for part in (stored, here))
    if words != wanted:
        raise InputError(
            f"the source dictionary of --encoder-from {path} has {words} entries, and this data's has {wanted}. "
            "Preprocess the data with the dictionary of that training (fairseq-preprocess --srcdict)"
        )
    _check_words(_section(state, "task"), encoder.dictionary, path)
    _check_parts(stored, here, path)
    encoder.load_state_dict(stored)
    logger.info("the encoder's weights are those of %s", path)


def _section(state: dict[str, Any], name: str) -> dict[str, Any]:
    """The options that a checkpoint's model or task was built from, flat.

    A stock Transformer's options are in a namespace, and those of old checkpoints are together.
    """
    section = state["cfg"].get(name, {}) if state.get("cfg") else state["args"]
    return section if isinstance(section, dict) else vars(section)


def _check_options(then: dict[str, Any], cfg: ContinuousTransformerConfig, path: Any) -> None:
    other = [
        f"--{name.replace('_', '-')} {then[name]} (here {getattr(cfg, name)})"
        for name in OPTIONS
        if name in then and str(then[name]) != str(getattr(cfg, name))
    ]
    if other:
        raise InputError(f"--encoder-from {path} was trained with {', '.join(other)}: give this model the same")


def _check_words(task: dict[str, Any], dictionary: Dictionary, path: Any) -> None:
    data = task.get("data")
    words = Path(split_paths(data)[0]) / f"dict.{task.get('source_lang')}.txt" if data else None
    if words is None or not words.is_file():
        gone = words or "data folder named in it"
        logger.warning("%s: no %s to compare words with, so only their number is known to be the same", path, gone)
    elif Dictionary.load(str(words)).symbols != dictionary.symbols:
        raise InputError(
            f"--encoder-from {path} was trained with the source words of {words}, and this data has others: preprocess "
            f"the data with that dictionary (fairseq-preprocess --srcdict {words})"
        )


def _check_parts(stored: dict[str, Tensor], here: dict[str, Tensor], path: Any) -> None:
    for name in sorted(stored.keys() | here.keys()):
        shapes = [tuple(part[name].shape) if name in part else "absent" for part in (stored, here)]
        if shapes[0] != shapes[1]:
            raise InputError(
                f"--encoder-from {path}: its encoder's {name} is {shapes[0]}, this one's {shapes[1]}: give this "
                "model the options of that training"
            )
