"""Lines of one language into another."""

from __future__ import annotations

import sys

import numpy as np
import pytest
from sentencepiece import SentencePieceTrainer

from fairseq_xl.corpus.alignment.translators import (
    CommandTranslator,
    DictionaryTranslator,
    ModelTranslator,
    TranslateSettings,
)
from fairseq_xl.io.errors import InputError

from .conftest import DOCUMENTS, UPPER


def test_command():
    assert CommandTranslator(UPPER).translate(["un", "", "été $(x) ; y"]) == ["UN", "", "ÉTÉ $(X) ; Y"]
    assert CommandTranslator(UPPER).translate([]) == []


@pytest.mark.parametrize(
    ("command", "message"),
    [
        ([], "is empty"),
        (["{absent}"], "No such file"),
        ([sys.executable, "-c", "print('one')"], "wrote 1 lines for 2"),
        ([sys.executable, "-c", "pass"], "wrote 0 lines for 2"),
        ([sys.executable, "-c", "print('1\\n2\\n3')"], "wrote 3 lines for 2"),
        ([sys.executable, "-c", "raise SystemExit('no model')"], "status 1: no model"),
        ([sys.executable, "-c", "import os; os.write(1, b'\\xff\\n\\xff\\n')"], "not UTF-8"),
    ],
)
def test_command_that_fails(command, message, tmp_path):
    command = [str(tmp_path / "absent") if word == "{absent}" else word for word in command]
    with pytest.raises(InputError, match=message):
        CommandTranslator(command).translate(["un", "deux"])


def test_dictionary_words():
    translator = DictionaryTranslator({"l": "the", "été": "summer", "serveur": "server", "en": "in", "http": "http"})
    lines = ["L'été, le Serveur !", "HTTP_SERVEUR EN ÉTÉ", ""]
    assert translator.translate(lines) == ["The'summer, le Server !", "HTTP_SERVER IN SUMMER", ""]
    assert translator.identity != DictionaryTranslator({"l": "a"}).identity


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    """A model of CTranslate2 with random weights, and SentencePiece models for it."""
    ctranslate2 = pytest.importorskip("ctranslate2")
    from ctranslate2.specs.model_spec import visit_spec

    folder = tmp_path_factory.mktemp("model")
    SentencePieceTrainer.train(
        sentence_iterator=iter([line for side in DOCUMENTS[0].lines for line in side]),
        model_prefix=str(folder / "source"),
        vocab_size=30,
        minloglevel=2,
    )
    (folder / "target.spm").write_bytes((folder / "source.model").read_bytes())
    (folder / "source.model").rename(folder / "source.spm")
    pieces = [line.split("\t")[0] for line in (folder / "source.vocab").read_text(encoding="utf-8").splitlines()]
    tokens = [*pieces, "fra_Latn", "eng_Latn"]
    (folder / "source.vocab").unlink()
    spec = ctranslate2.specs.TransformerSpec.from_config((1, 1), num_heads=2)
    rng, width = np.random.default_rng(0), 8

    def fill(layer, name, value):
        if value is not None:  # given, or optional as biases are
            return
        last = name.rpartition("/")[2]
        rows, columns = width, width
        if "embeddings" in name or "projection" in name:
            rows = len(tokens)
        elif "self_attention/linear_0" in name:
            rows = 3 * width
        elif "ffn/linear_0" in name or "decoder/layer_0/attention/linear_1" in name:
            rows = 2 * width
        elif "ffn/linear_1" in name:
            columns = 2 * width
        shape = (rows, columns) if last == "weight" else (width,)
        setattr(layer, last, rng.normal(size=shape).astype(np.float32))

    visit_spec(spec, fill)
    spec.register_source_vocabulary(tokens)
    spec.register_target_vocabulary(tokens)
    spec.validate()
    spec.save(str(folder))
    return folder


def test_model(model, monkeypatch):
    plain = ModelTranslator(model, TranslateSettings())
    settings = TranslateSettings(source_token="fra_Latn", target_token="eng_Latn", beam=1)
    lines = ["le chat mange le pain", "", "le chien"]
    found = plain.translate(lines)
    assert len(found) == 3
    assert all("▁" not in line and line == " ".join(line.split()) for line in found)
    assert plain.translate(lines) == found
    many = ModelTranslator(model, settings)
    assert len(many.translate(lines)) == 3
    assert plain.identity != many.identity == ModelTranslator(model, settings).identity

    class Spy:
        def translate_batch(self, pieces, target_prefix, **_):
            self.pieces, self.prefix = pieces, target_prefix
            answer = ["eng_Latn", *many.target.encode("le chat", out_type=str)]
            return [type("R", (), {"hypotheses": [answer]}) for _ in pieces]

    many.model = Spy()
    assert many.translate(["le chien"]) == ["le chat"]
    assert many.model.pieces[0][0] == "fra_Latn"
    assert many.model.pieces[0][-1] == "</s>"
    assert many.model.prefix == [["eng_Latn"]]


def test_model_that_is_none(tmp_path, model):
    whole = TranslateSettings(source_subwords=str(model / "source.spm"), target_subwords=str(model / "target.spm"))
    with pytest.raises(InputError, match=r"translate\.model"):
        ModelTranslator(tmp_path, whole)
    with pytest.raises(InputError, match="no subword model"):
        ModelTranslator(model, TranslateSettings(source_subwords=str(tmp_path / "source.spm")))
