"""The Transformer's options: sizes of the presets, and fairseq's nested form of them."""

import dataclasses

from fairseq_xl.continuous.models.transformer_config import (
    ContinuousTransformerConfig,
    StockOptions,
    TransformerIwsltConfig,
    stock_config,
)


def test_sizes():
    small, iwslt = ContinuousTransformerConfig(), stock_config(TransformerIwsltConfig())
    assert (small.encoder_embed_dim, small.decoder_ffn_embed_dim, small.encoder_layers) == (256, 1024, 4)
    for part in (iwslt.encoder, iwslt.decoder):
        assert (part.embed_dim, part.ffn_embed_dim, part.attention_heads, part.layers) == (512, 1024, 4, 6)


def test_fairseqs_options_reach_its_nested_configuration():
    """Each option of the stock model, given a value of its own, is found where the layers read it."""
    cfg = ContinuousTransformerConfig()
    for position, given in enumerate(dataclasses.fields(StockOptions)):
        if given.type in (int, float) or given.name.endswith("embed_dim"):
            setattr(cfg, given.name, given.type(position) if given.type is float else 4 * position)
    for side in ("encoder", "decoder"):
        setattr(cfg, f"{side}_attention_heads", 4)
    made = stock_config(cfg)
    for given in dataclasses.fields(StockOptions):
        if given.name != "_name":
            assert getattr(made, given.name) == getattr(cfg, given.name), given.name
