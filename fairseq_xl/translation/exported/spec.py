"""A Transformer of this suite in CTranslate2's words, and its files.

Weights are arrays by the names of CTranslate2's specification (``decoder/layer_0/ffn/linear_0/weight``). All of them
but the decoder's two layers that know words, its embeddings and its projection, make the *body*.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from torch import Tensor

from fairseq_xl.io.errors import InputError
from fairseq_xl.io.packages import require

ACTIVATIONS = {
    "relu": "RELU",
    "gelu": "GELU",
    "gelu_accurate": "GELUTanh",
    "gelu_fast": "GELUTanh",
    "swish": "SWISH",
    "tanh": "Tanh",
}
"""fairseq's functions by their names, and CTranslate2's names of them."""

Weights = dict[str, np.ndarray]


def architecture(model: Any) -> dict[str, Any]:
    """Sizes and options of a ``ContinuousTransformer`` that its weights do not show.

    Raises:
        InputError: an option that CTranslate2 does not have.
    """
    cfg = model.encoder.cfg
    if cfg.activation_fn not in ACTIVATIONS:
        raise InputError(f"CTranslate2 has no --activation-fn {cfg.activation_fn}: it has {', '.join(ACTIVATIONS)}")
    for name, side in (("encoder", model.encoder), ("decoder", model.decoder)):
        if side.embed_positions is None:
            raise InputError(f"CTranslate2 needs the {name}'s positions: --no-token-positional-embeddings has none")
        if not side.layers:
            raise InputError(f"CTranslate2 needs a layer in the {name}")
    if cfg.cross_self_attention:
        raise InputError("CTranslate2 has no --cross-self-attention")
    return {
        "activation": str(cfg.activation_fn),
        "layernorm_embedding": bool(cfg.layernorm_embedding),
        "encoder": _side(model.encoder, cfg.encoder),
        "decoder": _side(model.decoder, cfg.decoder),
    }


def _side(side: Any, cfg: Any) -> dict[str, Any]:
    return {
        "layers": len(side.layers),
        "heads": int(cfg.attention_heads),
        "pre_norm": bool(cfg.normalize_before),
        "no_final_norm": side.layer_norm is None,
    }


def body(model: Any) -> Weights:
    """The weights of a ``ContinuousTransformer`` but those that know target words."""
    found: Weights = {"encoder/embeddings_0/weight": array(model.encoder.embed_tokens.weight)}
    for name, side in (("encoder", model.encoder), ("decoder", model.decoder)):
        found[f"{name}/scale_embeddings"] = np.asarray(side.embed_scale, dtype=np.float32)
        positions = side.embed_positions
        table = positions.weights if hasattr(positions, "weights") else positions.weight
        found[f"{name}/position_encodings/encodings"] = array(table[positions.padding_idx + 1 :])
        for norm in ("layer_norm", "layernorm_embedding"):
            if getattr(side, norm) is not None:
                found |= _norm(f"{name}/{norm}", getattr(side, norm))
        for number, layer in enumerate(side.layers):
            place = f"{name}/layer_{number}"
            found |= _self_attention(f"{place}/self_attention", layer.self_attn)
            found |= _norm(f"{place}/self_attention/layer_norm", layer.self_attn_layer_norm)
            if name == "decoder":
                found |= _cross_attention(f"{place}/attention", layer.encoder_attn)
                found |= _norm(f"{place}/attention/layer_norm", layer.encoder_attn_layer_norm)
            found |= _norm(f"{place}/ffn/layer_norm", layer.final_layer_norm)
            found |= _linear(f"{place}/ffn/linear_0", layer.fc1)
            found |= _linear(f"{place}/ffn/linear_1", layer.fc2)
    return found


def _self_attention(place: str, module: Any) -> Weights:
    first = _linear(f"{place}/linear_0", module.q_proj, module.k_proj, module.v_proj)
    return first | _linear(f"{place}/linear_1", module.out_proj)


def _cross_attention(place: str, module: Any) -> Weights:
    first = _linear(f"{place}/linear_0", module.q_proj) | _linear(f"{place}/linear_1", module.k_proj, module.v_proj)
    return first | _linear(f"{place}/linear_2", module.out_proj)


def _linear(place: str, *modules: Any) -> Weights:
    """One layer, or several that read the same states, one under the other."""
    weight = np.concatenate([array(module.weight) for module in modules])
    bias = np.concatenate([array(module.bias) for module in modules])
    return {f"{place}/weight": weight, f"{place}/bias": bias}


def _norm(place: str, module: Any) -> Weights:
    return {f"{place}/gamma": array(module.weight), f"{place}/beta": array(module.bias)}


def array(tensor: Tensor) -> np.ndarray:
    """A weight as float32 numbers."""
    return tensor.detach().float().cpu().numpy()


def write_model(
    folder: Path,
    built: Mapping[str, Any],
    weights: Mapping[str, np.ndarray],
    source_words: list[str],
    target_words: list[str],
    compute_type: str,
) -> None:
    """Write CTranslate2's files.

    Args:
        folder: where to.
        built: of :func:`architecture`.
        weights: the body and the layers that know words.
        source_words, target_words: entries of the dictionaries, in their order.
        compute_type: ``float32``, or ``int8`` for weights of a quarter the size.

    Raises:
        InputError: CTranslate2 is not installed.
    """
    require("ctranslate2", "ctranslate2", "an export")
    from ctranslate2.specs import TransformerSpec, common_spec, transformer_spec

    common = {
        "activation": getattr(common_spec.Activation, ACTIVATIONS[built["activation"]]),
        "layernorm_embedding": built["layernorm_embedding"],
    }
    sides = {}
    for name, kind, further in (
        ("encoder", transformer_spec.TransformerEncoderSpec, {}),
        # the mean over the heads of the last layer, as fairseq's attention is
        ("decoder", transformer_spec.TransformerDecoderSpec, {"alignment_layer": -1, "alignment_heads": 0}),
    ):
        own = built[name]
        sides[name] = kind(
            own["layers"],
            own["heads"],
            pre_norm=own["pre_norm"],
            no_final_norm=own["no_final_norm"],
            **common,
            **further,
        )
    spec = TransformerSpec(sides["encoder"], sides["decoder"])
    for name, value in weights.items():
        _set(spec, name, value)
    spec.register_source_vocabulary(source_words)
    spec.register_target_vocabulary(target_words)
    # fairseq's decoders begin with the end of the sentence, its sources close with it
    spec.config.decoder_start_token = spec.config.eos_token
    spec.config.add_source_eos = True
    spec.validate()
    spec.optimize(quantization=compute_type)
    spec.save(str(folder))


def _set(spec: Any, name: str, value: np.ndarray) -> None:
    *path, last = name.split("/")
    for key in path:
        if hasattr(spec, key):
            spec = getattr(spec, key)
        else:  # an element of a list, such as layer_0
            group, _, number = key.rpartition("_")
            spec = getattr(spec, group)[int(number)]
    setattr(spec, last, value)
