"""Models that are not there: a sentence, whichever command wants them."""

import sys
from types import SimpleNamespace

import pytest

from fairseq_xl.encode.pretrained import load_sentence_transformer, load_transformer
from fairseq_xl.io.errors import InputError


@pytest.mark.parametrize("error", [OSError("no such folder"), ValueError("not a model's folder")])
def test_a_model_that_is_not_there(monkeypatch, error):
    def missing(*arguments):
        raise error

    loader = SimpleNamespace(from_pretrained=missing)
    package = SimpleNamespace(SentenceTransformer=missing, AutoTokenizer=loader, AutoModel=loader)
    for module, load in (("sentence_transformers", load_sentence_transformer), ("transformers", load_transformer)):
        monkeypatch.setitem(sys.modules, module, package)
        with pytest.raises(InputError, match=f"transformers cannot load 'some/model' .{error}.: give a model's name"):
            load("some/model")
