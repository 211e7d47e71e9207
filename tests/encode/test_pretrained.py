"""The packages are not dependencies: small stand-ins with their interface take their place."""

from __future__ import annotations

import sys
from types import SimpleNamespace

import numpy as np
import pytest
import torch
from torch import Tensor

from fairseq_xl.encode import pretrained
from fairseq_xl.encode.registry import load_encoder
from fairseq_xl.io.errors import InputError

TEXT = ["a b c", "b", ""]
WORDS = {"[CLS]": 1, "[SEP]": 2, "a": 3, "b": 4, "c": 5}
STATES = torch.tensor([[0, 0], [90, -90], [80, 80], [1, -4], [3, -8], [-1, -3]], dtype=torch.float)
"""of padding, [CLS], [SEP], a, b, c"""


class Batch(dict):
    def to(self, device: str) -> Batch:
        return self


class Tokenizer:
    pad_token = "[PAD]"
    model_max_length = 6

    @classmethod
    def from_pretrained(cls, name: str) -> Tokenizer:
        if name == "nowhere":
            raise OSError("no such model")
        return cls()

    def __call__(self, sentences: list[str], **options: object) -> Batch:
        assert options == {
            "padding": True,
            "truncation": True,
            "max_length": 6,
            "return_tensors": "pt",
            "return_special_tokens_mask": True,
        }
        rows = [[1, *(WORDS[word] for word in line.split()), 2] for line in sentences]
        width = max(map(len, rows))
        ids = torch.tensor([row + [0] * (width - len(row)) for row in rows])
        return Batch(input_ids=ids, attention_mask=(ids > 0).long(), special_tokens_mask=(ids < 3).long())


class Model:
    pooled = True
    config = SimpleNamespace(hidden_size=2, max_position_embeddings=8)

    @classmethod
    def from_pretrained(cls, name: str) -> Model:
        return cls()

    def eval(self) -> Model:
        return self

    def to(self, device: str) -> Model:
        return self

    def __call__(self, input_ids: Tensor, attention_mask: Tensor) -> SimpleNamespace:
        states = STATES[input_ids]
        return SimpleNamespace(last_hidden_state=states, pooler_output=states[:, 0] if self.pooled else None)


@pytest.fixture
def transformers(monkeypatch: pytest.MonkeyPatch) -> SimpleNamespace:
    package = SimpleNamespace(AutoTokenizer=Tokenizer, AutoModel=Model)
    monkeypatch.setitem(sys.modules, "transformers", package)
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    return package


@pytest.mark.parametrize("batch", [1, 64])
def test_states_are_pooled_over_pieces_alone(transformers, monkeypatch, batch: int) -> None:
    """Not over padding, [CLS] or [SEP]; an empty sentence has zeros."""
    monkeypatch.setattr(pretrained, "BATCH", batch)
    largest = load_encoder("transformers-max:bert").encode(TEXT)
    np.testing.assert_array_equal(largest, [[3, -3], [3, -8], [0, 0]])
    average = load_encoder("transformers:bert").encode(TEXT)
    np.testing.assert_array_equal(average, [[1, -5], [3, -8], [0, 0]])
    output = load_encoder("transformers-output:bert").encode(TEXT)
    np.testing.assert_array_equal(output, [[90, -90]] * 3)


def test_no_more_pieces_than_the_model_reads(transformers, monkeypatch) -> None:
    monkeypatch.setattr(Tokenizer, "model_max_length", 10**30)
    np.testing.assert_array_equal(load_encoder("transformers-max:bert").encode(TEXT), [[3, -3], [3, -8], [0, 0]])
    assert load_encoder("transformers-max:bert").encode([]).shape == (0, 2)
    unlimited = SimpleNamespace(model_max_length=10**30)
    assert pretrained._longest(unlimited, SimpleNamespace()) is None


def test_a_model_without_pooled_output_is_refused(transformers, monkeypatch) -> None:
    monkeypatch.setattr(Model, "pooled", False)
    with pytest.raises(InputError, match="has no pooled output"):
        load_encoder("transformers-output:bert").encode(TEXT)


def test_an_unknown_model_is_refused(transformers) -> None:
    with pytest.raises(InputError, match="cannot load 'nowhere'"):
        load_encoder("transformers-max:nowhere").encode(TEXT)


def test_sentence_transformers_are_asked_as_they_are(monkeypatch: pytest.MonkeyPatch) -> None:
    class SentenceTransformer:
        def __init__(self, name: str):
            assert name == "labse"

        def encode(self, sentences: list[str], batch_size: int, convert_to_numpy: bool) -> np.ndarray:
            assert convert_to_numpy
            return np.array([[len(line), 1] for line in sentences], dtype=np.float32)

    package = SimpleNamespace(SentenceTransformer=SentenceTransformer)
    monkeypatch.setitem(sys.modules, "sentence_transformers", package)
    found = load_encoder("sentence-transformers:labse").encode(TEXT)
    np.testing.assert_array_equal(found, [[5, 1], [1, 1], [0, 1]])


@pytest.mark.parametrize("kind", ["transformers-max", "sentence-transformers"])
def test_missing_packages_are_named(monkeypatch: pytest.MonkeyPatch, kind: str) -> None:
    monkeypatch.setitem(sys.modules, "transformers", None)
    monkeypatch.setitem(sys.modules, "sentence_transformers", None)
    with pytest.raises(
        InputError, match=r"needs the package .*transformers: bash scripts/setup.sh --extras pretrained"
    ):
        load_encoder(f"{kind}:bert").encode(TEXT)


@pytest.mark.parametrize("error", [OSError("no such folder"), ValueError("not a model's folder")])
def test_a_model_that_is_not_there(monkeypatch, error):
    def missing(*arguments):
        raise error

    loader = SimpleNamespace(from_pretrained=missing)
    package = SimpleNamespace(SentenceTransformer=missing, AutoTokenizer=loader, AutoModel=loader)
    for module, load in (
        ("sentence_transformers", pretrained.load_sentence_transformer),
        ("transformers", pretrained.load_transformer),
    ):
        monkeypatch.setitem(sys.modules, module, package)
        with pytest.raises(InputError, match=f"transformers cannot load 'some/model' .{error}.: give a model's name"):
            load("some/model")
