"""Preprocessed data and dictionaries that are missing, torn, flipped or foreign: one sentence, before training."""

from __future__ import annotations

import shutil
import struct
from pathlib import Path

import forked
import numpy as np
import pytest
from fairseq.data import Dictionary, data_utils

from fairseq_xl.compat.damaged_data import MissingFile
from fairseq_xl.io.errors import InputError

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def data(corpus: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(corpus, tmp_path / "data"))


def load(data: Path) -> list[list[int]]:
    dictionary = Dictionary.load(str(data / "dict.en.txt"))
    found = data_utils.load_indexed_dataset(str(data / "train.de-en.en"), dictionary)
    return [found[i].tolist() for i in range(len(found))]


def change(path: Path, at: int, content: bytes) -> None:
    old = path.read_bytes()
    path.write_bytes(old[:at] + content + old[at + len(content) :])


def test_good_data_is_as_it_was(data: Path) -> None:
    assert len(load(data)) > 10


@pytest.mark.parametrize(
    ("suffix", "spoil", "sentence"),
    [
        ("bin", lambda p: p.write_bytes(p.read_bytes()[:-2]), r"en\.bin is damaged: it has \d+ bytes, and "),
        ("bin", lambda p: p.write_bytes(p.read_bytes() + b"xx"), r"en\.bin is damaged"),
        ("bin", lambda p: p.unlink(), r"en\.bin is missing and belongs to .*en\.idx: preprocess"),
        ("bin", lambda p: change(p, 0, b"\xff\x7f"), r"holds word number 32767 and its dictionary has \d+ words"),
        ("idx", lambda p: p.write_bytes(p.read_bytes()[:-2]), r"en\.idx is damaged: preprocess the text again"),
        ("idx", lambda p: p.write_bytes(p.read_bytes()[:11]), r"en\.idx is damaged"),
        ("idx", lambda p: change(p, 0, b"X"), r"en\.idx is damaged, or is not an index of preprocessed text"),
        ("idx", lambda p: change(p, 9, b"\x02"), r"en\.idx is damaged"),
        ("idx", lambda p: change(p, 17, b"\x63"), r"en\.idx is damaged"),
        ("idx", lambda p: change(p, 26, struct.pack("<i", -5)), r"en\.idx is damaged"),
        ("idx", lambda p: change(p, 26, struct.pack("<i", 2**30)), r"en\.idx is damaged"),
        ("idx", lambda p: p.write_bytes(b""), r"en\.idx is damaged, or is not an index of preprocessed text"),
    ],
)
def test_damaged_data_is_named(data: Path, suffix: str, spoil, sentence: str) -> None:
    spoil(data / f"train.de-en.en.{suffix}")
    with pytest.raises(InputError, match=sentence):
        load(data)


def test_no_flipped_bit_of_an_index_goes_unnoticed(data: Path) -> None:
    index = data / "train.de-en.en.idx"
    good, draw = index.read_bytes(), np.random.default_rng(1)
    for at in draw.choice(8 * len(good), 200, replace=False):
        change(index, at // 8, bytes([good[at // 8] ^ 1 << at % 8]))
        with pytest.raises(InputError):
            load(data)
        index.write_bytes(good)
    assert len(load(data)) > 10


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (b"a 1\na 2\n", "is damaged .Duplicate word"),
        (b"a\n", "is damaged .Incorrect dictionary format"),
        (b"a x\n", "is damaged .Incorrect dictionary format"),
        (b"\xff 1\n", "is damaged .Incorrect encoding"),
        (None, "there is no dictionary .*dict.en.txt: name the languages"),
    ],
)
def test_damaged_dictionaries_are_named(data: Path, content: bytes | None, sentence: str) -> None:
    path = data / "dict.en.txt"
    path.unlink()
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(InputError, match=sentence):
        load(data)


def test_what_is_missing_is_still_what_fairseq_catches(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        Dictionary.load(str(tmp_path / "none"))
    assert issubclass(MissingFile, InputError)


@pytest.mark.parametrize(
    ("spoil", "sentence"),
    [
        (lambda data: shutil.rmtree(data), "error: there is no folder "),
        (lambda data: (data / "dict.de.txt").unlink(), "error: there is no dictionary "),
        (lambda data: (data / "valid.de-en.en.idx").write_bytes(b"x" * 99), "error: "),
        (lambda data: [path.unlink() for path in data.glob("valid.*")], "error: Dataset not found: valid "),
    ],
)
def test_fairseqs_command_says_it(data: Path, tmp_path: Path, spoil, sentence: str) -> None:
    spoil(data)
    words = [data, "--user-dir", ROOT / "fairseq_xl", "--arch", "lstm", "--optimizer", "adam", "--max-tokens", "99"]
    done = forked.run("fairseq_cli.train", *words, "--cpu", "--save-dir", tmp_path / "out")
    assert done.returncode == 2
    assert done.stderr.splitlines()[-1].startswith(sentence)
    assert "Traceback" not in done.stderr
