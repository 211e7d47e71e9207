from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import fairseq_xl
from fairseq_xl.io.errors import InputError
from fairseq_xl.syntactic.evaluation.encoders import KINDS, parse_encoder
from fairseq_xl.syntactic.tagging.tagged import TaggedText


@pytest.fixture
def text(tmp_path: Path) -> TaggedText:
    return TaggedText(tmp_path / "en.tsv", "en", ["a b", "c"], [("X", "X"), ("X",)], [])


@pytest.mark.parametrize(
    ("asked", "label", "spec"),
    [
        ("length", "length", "length"),
        ("words only=length", "words only", "length"),
        ("npy:a=b/{name}.npy", "npy:a=b/{name}.npy", "npy:a=b/{name}.npy"),
        ("ours=npy:a:b=c", "ours", "npy:a:b=c"),
    ],
)
def test_a_label_stands_before_the_kind(asked: str, label: str, spec: str) -> None:
    encoder = parse_encoder(asked)
    assert (encoder.label, encoder.spec) == (label, spec)


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        ("size", "no encoder 'size': choose from model, npy, length"),
        ("a=size:b", "no encoder 'size'"),
        ("length:3", "length takes nothing after it"),
        ("npy", "write npy:PATTERN"),
        ("ours=model:", "write model:PATH"),
    ],
)
def test_other_encoders_are_refused(asked: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        parse_encoder(asked)


def test_every_kind_has_help() -> None:
    assert all(help_text for _, _, help_text in KINDS.values())


def test_files_are_found_by_name_and_read_row_by_row(tmp_path: Path, text: TaggedText) -> None:
    rows = np.arange(6, dtype=np.float16).reshape(2, 3)
    np.save(tmp_path / "v.en.npy", rows)
    (found,) = parse_encoder(f"npy:{tmp_path}/v.{{name}}.npy").embed([text])
    np.testing.assert_array_equal(found, rows)


@pytest.mark.parametrize(
    ("array", "message"),
    [
        (np.zeros((3, 2)), r"has 3 rows but .*en\.tsv has 2 sentences"),
        (np.zeros(2), "holds an array of shape"),
        (np.zeros((2, 2), dtype=np.int64), "type int64"),
        (np.array([[1.0, 2], [np.nan, 1]]), r"sentence 2 of .*en\.tsv holds NaN"),
        (np.array([[np.inf, 2], [0, 1]]), r"sentence 1 of .*en\.tsv holds NaN or infinity"),
    ],
)
def test_files_that_do_not_fit_are_refused(tmp_path: Path, text: TaggedText, array: np.ndarray, message: str) -> None:
    np.save(tmp_path / "en.npy", array)
    with pytest.raises(InputError, match=message):
        parse_encoder(f"npy:{tmp_path}/{{name}}.npy").embed([text])


def test_one_file_is_not_the_vectors_of_several_texts(tmp_path: Path, text: TaggedText) -> None:
    np.save(tmp_path / "en.npy", np.eye(2))
    other = TaggedText(tmp_path / "en.conllu.gz", "en", text.texts, text.upos, [])
    with pytest.raises(InputError, match=r"x: .* cannot be the vectors of 2 texts: write \{name\} for"):
        parse_encoder(f"x=npy:{tmp_path}/en.npy").embed([text, other])
    with pytest.raises(InputError, match=r"x: .*en\.tsv and .*en\.conllu\.gz are both called 'en': rename one"):
        parse_encoder(f"x=npy:{tmp_path}/{{name}}.npy").embed([text, other])
    assert len(parse_encoder(f"npy:{tmp_path}/en.npy").embed([text])) == 1


def test_missing_and_pickled_files_are_refused(tmp_path: Path, text: TaggedText) -> None:
    with pytest.raises(InputError, match=r"there is no .*en\.npy"):
        parse_encoder(f"npy:{tmp_path}/{{name}}.npy").embed([text])
    np.save(tmp_path / "en.npy", np.array([{}, {}], dtype=object), allow_pickle=True)
    with pytest.raises(InputError, match="pickled"):
        parse_encoder(f"npy:{tmp_path}/{{name}}.npy").embed([text])


def test_a_model_is_loaded_once_for_all_texts(monkeypatch: pytest.MonkeyPatch, text: TaggedText) -> None:
    loaded = []

    class Encoder:
        @classmethod
        def load(cls, path: str) -> Encoder:
            loaded.append(path)
            return cls()

        def encode(self, sentences: list[str]) -> np.ndarray:
            return np.ones((len(sentences), 4), dtype=np.float32)

    monkeypatch.setattr(fairseq_xl, "SentenceEncoder", Encoder, raising=False)
    found = parse_encoder("ours=model:folder").embed([text, text])
    assert [matrix.shape for matrix in found] == [(2, 4), (2, 4)]
    assert loaded == ["folder"]
