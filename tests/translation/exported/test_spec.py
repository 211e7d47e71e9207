"""Options of a Transformer that CTranslate2 does not have."""

from __future__ import annotations

from types import SimpleNamespace

import pytest
from tiny_models import transformer
from tiny_words import dictionary

from fairseq_xl.io.errors import InputError
from fairseq_xl.translation.exported.spec import architecture


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"activation_fn": "linear"}, "CTranslate2 has no --activation-fn linear: it has relu, gelu"),
        ({"no_token_positional_embeddings": True}, "needs the encoder's positions: --no-token-positional-embeddings"),
        ({"encoder_layers": 0}, "CTranslate2 needs a layer in the encoder"),
        ({"decoder_layers": 0}, "CTranslate2 needs a layer in the decoder"),
        ({"cross_self_attention": True}, "CTranslate2 has no --cross-self-attention"),
    ],
)
def test_what_ctranslate2_lacks_is_named(options, said):
    task = SimpleNamespace(source_dictionary=dictionary(30), target_dictionary=dictionary(40))
    with pytest.raises(InputError, match=said):
        architecture(transformer(task, None, decoder_output="softmax", **options))
