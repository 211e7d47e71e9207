"""[LABEL=]ENCODER: baselines, and what the registry knows, one for each text."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from fairseq_xl.encode import registry
from fairseq_xl.io.errors import InputError
from fairseq_xl.syntactic.evaluation import baselines
from fairseq_xl.syntactic.evaluation.encoders import BASELINES, parse_encoder
from fairseq_xl.syntactic.tagging.tagged_text import TaggedText


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
        ("ours=models/{lang}", "ours", "models/{lang}"),
    ],
)
def test_a_label_stands_before_the_encoder(asked: str, label: str, spec: str) -> None:
    encoder = parse_encoder(asked)
    assert (encoder.label, encoder.spec) == (label, spec)


def test_the_path_of_something_there_has_no_label(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    path = Path("runs/lr=0.1/checkpoint.pt")
    path.parent.mkdir(parents=True)
    path.touch()
    for asked, label in ((str(path), str(path)), (f"ours={path}", "ours")):
        encoder = parse_encoder(asked)
        assert (encoder.label, encoder.spec) == (label, str(path))


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        ("size", "no encoder 'size': name a model's folder, a checkpoint, or npy:FILE, .*, length, tags, characters"),
        ("a=size:b", "no encoder 'size:b'"),
        ("length:3", "length takes nothing after it"),
        ("npy", "write npy:FILE"),
        ("ours=vectors:", "write vectors:FILE"),
    ],
)
def test_other_encoders_are_refused(asked: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        parse_encoder(asked)


def test_every_baseline_is_there(text: TaggedText) -> None:
    for name in BASELINES:
        (found,) = parse_encoder(name).embed([text])
        (expected,) = getattr(baselines, name)([text])
        assert (found != expected).sum() == 0


def test_files_are_found_by_name_and_read_row_by_row(tmp_path: Path, text: TaggedText) -> None:
    rows = np.arange(6, dtype=np.float16).reshape(2, 3)
    np.save(tmp_path / "v.en.npy", rows)
    (found,) = parse_encoder(f"npy:{tmp_path}/v.{{name}}.npy").embed([text])
    np.testing.assert_array_equal(found, rows)


def test_word_vectors_are_those_of_the_language(tmp_path: Path, text: TaggedText) -> None:
    (tmp_path / "en.vec").write_text("2 2\na 1 3\nb 3 5\n", encoding="utf-8")
    (tmp_path / "de.vec").write_text("1 2\nc 0 1\n", encoding="utf-8")
    german = TaggedText(tmp_path / "de.tsv", "de", ["c", ""], [("X",), ()], [])
    found = parse_encoder(f"words=vectors:{tmp_path}/{{lang}}.vec").embed([text, german])
    np.testing.assert_array_equal(found, [[[2, 4], [0, 0]], [[0, 1], [0, 0]]])
    with pytest.raises(InputError, match=r"x, on de\.tsv: .*en\.vec has no vector for any word"):
        parse_encoder(f"x=vectors:{tmp_path}/en.vec").embed([text, german])


def test_whose_vectors_do_not_fit_is_said(tmp_path: Path, text: TaggedText) -> None:
    np.save(tmp_path / "en.npy", np.zeros((3, 2)))
    with pytest.raises(InputError, match=r"^x, on en\.tsv: .*en\.npy has 3 rows, but there are 2 sentences"):
        parse_encoder(f"x=npy:{tmp_path}/{{name}}.npy").embed([text])


def test_one_file_is_not_the_vectors_of_several_texts(tmp_path: Path, text: TaggedText) -> None:
    np.save(tmp_path / "en.npy", np.eye(2))
    other = TaggedText(tmp_path / "en.conllu.gz", "en", text.texts, text.upos, [])
    with pytest.raises(InputError, match=r"x: .*en\.tsv and .*en\.conllu\.gz are both called 'en': rename one"):
        parse_encoder(f"x=npy:{tmp_path}/{{name}}.npy").embed([text, other])
    other = TaggedText(tmp_path / "de.tsv", "de", text.texts, text.upos, [])
    with pytest.raises(InputError, match=r"x: one array is not the vectors of 2 texts: write \{name\} for"):
        parse_encoder(f"x=npy:{tmp_path}/en.npy").embed([text, other])
    assert len(parse_encoder(f"npy:{tmp_path}/en.npy").embed([text])) == 1


def test_an_encoder_is_loaded_once_for_all_texts(monkeypatch: pytest.MonkeyPatch, tmp_path, text: TaggedText) -> None:
    loaded = []

    def load(spec: str) -> SimpleNamespace:
        loaded.append(spec)
        return SimpleNamespace(encode=lambda sentences: np.ones((len(sentences), 4), dtype=np.float32))

    monkeypatch.setattr(registry, "load_encoder", load)
    found = parse_encoder(f"ours={tmp_path}").embed([text, text])
    assert [matrix.shape for matrix in found] == [(2, 4), (2, 4)]
    assert loaded == [str(tmp_path)]
