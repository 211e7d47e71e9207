"""fairseq-xl embed text, pack, random and export."""

from __future__ import annotations

import io
import sys
from types import SimpleNamespace

import numpy as np
import pytest

from fairseq_xl import SentenceEncoder
from fairseq_xl.cli import main as cli

LINES = ["der hund rennt .", "", "the red cat sees a dog .", "a\u2028cat ."]


@pytest.fixture
def text(tmp_path):
    path = tmp_path / "text"
    path.write_text("\n".join(LINES) + "\n", encoding="utf-8")
    return path


def encode(*arguments) -> int:
    return cli.main(["embed", "text", *map(str, arguments)])


def test_rows_are_lines(packed, text, tmp_path):
    assert encode(packed, text, "--output", tmp_path / "x.npy") == 0
    expected = SentenceEncoder.load(packed).encode(LINES)
    found = np.load(tmp_path / "x.npy")
    assert found.dtype == np.float32
    assert np.array_equal(found, expected)


def test_blocks_halves_and_unit_lengths(packed, text, tmp_path, monkeypatch):
    monkeypatch.setattr("fairseq_xl.cli.embed.text._BLOCK", 3)
    options = ("--fp16", "--normalize", "--max-tokens", 10, "--device", "cpu")
    assert encode(packed, text, "-o", tmp_path / "x.npy", *options) == 0
    expected = SentenceEncoder.load(packed).encode(LINES, normalize=True)
    found = np.load(tmp_path / "x.npy")
    assert found.dtype == np.float16
    assert np.allclose(found, expected, atol=1e-3)


@pytest.mark.parametrize(("content", "rows"), [(b"", 0), (b"\n\n", 2), (b"a cat .", 1)])
def test_standard_input(packed, tmp_path, monkeypatch, content, rows):
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=io.BytesIO(content)))
    assert encode(packed, "-o", tmp_path / "x.npy") == 0
    assert np.load(tmp_path / "x.npy").shape == (rows, 32)


def test_a_checkpoint_with_moved_data(upos_run, text, tmp_path):
    data, saved = upos_run
    assert encode(saved / "checkpoint_last.pt", text, "-o", tmp_path / "x.npy", "--data", data) == 0
    assert np.load(tmp_path / "x.npy").shape == (4, 32)


def test_what_cannot_be_used(packed, text, tmp_path, capsys):
    latin = tmp_path / "latin"
    latin.write_bytes("a cat .\ncaf\u00e9\n".encode("latin-1"))
    for arguments, message in (
        ((packed, latin, "-o", tmp_path / "x.npy"), "latin, line 2: byte 0xe9 is not valid UTF-8"),
        ((packed, tmp_path / "none", "-o", tmp_path / "x.npy"), "there is no file"),
        ((packed, text, "-o", tmp_path / "x.txt"), "give a name that ends in .npy"),
        (
            (tmp_path, text, "-o", tmp_path / "x.npy"),
            "is missing: `fairseq-xl embed pack` makes such a folder",
        ),
    ):
        assert encode(*arguments) == 2
        assert message in capsys.readouterr().err
    assert not (tmp_path / "x.npy").exists()


def test_random_and_export(upos_run, packed, text, tmp_path, capsys):
    checkpoint = str(upos_run[1] / "checkpoint_last.pt")
    assert cli.main(["embed", "random", checkpoint, "-o", str(tmp_path / "r"), "--seed", "2"]) == 0
    assert encode(tmp_path / "r", text, "-o", tmp_path / "x.npy") == 0
    assert not np.allclose(np.load(tmp_path / "x.npy"), SentenceEncoder.load(packed).encode(LINES))
    pytest.importorskip("onnxruntime")
    pytest.importorskip("onnx")
    assert cli.main(["embed", "export", str(packed), "-o", str(tmp_path / "x.onnx")]) == 0
    assert "agrees with the model within" in capsys.readouterr().out
    assert (tmp_path / "x.onnx").stat().st_size > 1000
