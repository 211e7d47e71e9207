"""Training on tiny text: what is written, that it repeats, and what is refused."""

from __future__ import annotations

import os
import random
import resource
from pathlib import Path

import numpy as np
import pytest

from fairseq_xl.io.errors import InputError
from fairseq_xl.vectors.formats.fasttext import fasttext_vocabulary
from fairseq_xl.vectors.neighbours import neighbours
from fairseq_xl.vectors.table import WordVectors, read_vectors
from fairseq_xl.vectors.train import Training, train_vectors

pytest.importorskip("fasttext", reason="needs the compiled package fasttext")

SMALL = {"dim": 8, "epoch": 1, "min_count": 1, "buckets": 300, "threads": 1}


def train(texts: list[Path], output: Path | str, progress: bool = False, **settings: object) -> WordVectors:
    return train_vectors(texts, output, Training(**settings), progress)


def topics(lines: int, seed: int = 0) -> str:
    """Sentences about one of two things: words of one topic occur together, of two never."""
    rng = random.Random(seed)
    pools = [[f"{letter * 3}{n}" for n in range(30)] for letter in "xy"]
    return "".join(" ".join(rng.choices(rng.choice(pools), k=8)) + "\n" for _ in range(lines))


@pytest.fixture(scope="module")
def text(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("text") / "text"
    path.write_text(topics(400))
    return path


def test_both_files_hold_the_same_vectors(text: Path, tmp_path: Path) -> None:
    returned = train([text], tmp_path / "new" / "wiki.en", **SMALL)
    assert sorted(path.name for path in (tmp_path / "new").iterdir()) == ["wiki.en.bin", "wiki.en.vec"]
    for suffix in (".bin", ".vec"):
        table = read_vectors(tmp_path / "new" / f"wiki.en{suffix}", dim=8)
        assert table.words == returned.words
        np.testing.assert_array_equal(table.matrix, returned.matrix)
    assert len(returned) == 61, "sixty words and the end of sentence"


@pytest.mark.parametrize("model", ["skipgram", "cbow"])
def test_words_of_one_topic_become_neighbours(text: Path, tmp_path: Path, model: str) -> None:
    settings = {**SMALL, "epoch": 200, "max_subword": 0, "model": model}
    table = train([text], tmp_path / "m", **settings)
    near = neighbours(table, ["xxx3", "yyy5"], k=10)
    for word, found in near.items():
        assert sum(other[0] == word[0] for other, _ in found) >= 9, found


def garbage() -> None:
    """Leave freed memory full of large numbers, which fastText would take for weights."""
    blocks = [np.full(size, 0x7F, np.uint8) for size in range(2000, 100_000, 997) for _ in range(3)]
    del blocks


@pytest.mark.parametrize("settings", [{"max_subword": 0}, {"buckets": 1}, {"threads": 3}])
def test_every_word_starts_at_random(text: Path, tmp_path: Path, settings: dict) -> None:
    """With one thread fastText itself would leave nine words of ten without start values."""
    garbage()
    table = train([text], tmp_path / "m", **{**SMALL, "lr": 1e-9, **settings})
    assert len(np.unique(table.matrix, axis=0)) == len(table), "no two words are alike"
    assert np.abs(table.matrix).min(axis=1).all(), "no word is zero"


def test_one_thread_repeats_itself_exactly_whatever_the_memory_held(text: Path, tmp_path: Path) -> None:
    tables = []
    for run in range(3):
        garbage()
        tables.append(train([text], tmp_path / f"m{run}", **SMALL, seed=1))
    for other in tables[1:]:
        np.testing.assert_array_equal(tables[0].matrix, other.matrix)
    assert (tmp_path / "m0.bin").read_bytes() == (tmp_path / "m1.bin").read_bytes()
    assert np.abs(tables[0].matrix).max() < 10
    reseeded = train([text], tmp_path / "seed2", **SMALL, seed=2)
    assert not np.array_equal(reseeded.matrix, tables[0].matrix)


def test_several_threads_train_too(text: Path, tmp_path: Path) -> None:
    garbage()
    table = train([text], tmp_path / "m", **{**SMALL, "threads": 3})
    assert len(table) == 61
    assert np.abs(table.matrix).max() < 10


def test_files_are_joined_at_line_ends(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("one two three")  # no newline at its end
    (tmp_path / "b").write_text("four five\n")
    train([tmp_path / "a", tmp_path / "b"], tmp_path / "m", **SMALL)
    assert set(fasttext_vocabulary(tmp_path / "m.bin")) == {"one", "two", "three", "four", "five", "</s>"}
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a", "b", "m.bin", "m.vec"]


def test_a_word_that_looks_like_a_label_is_kept(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("a __label__b c\n" * 5)
    assert "__label__b" in train([tmp_path / "a"], tmp_path / "m", **SMALL).words


def test_rare_words_are_left_to_their_subwords(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("often often often rarely\n" * 2)
    table = train([tmp_path / "a"], tmp_path / "m", **{**SMALL, "min_count": 5})
    assert table.words == ["often"]


def test_progress_follows_the_setting(text: Path, tmp_path: Path, capfd) -> None:
    train([text], tmp_path / "m", **SMALL)
    assert capfd.readouterr().err == ""
    train([text], tmp_path / "m", **SMALL, progress=True)
    shown = capfd.readouterr().err
    assert "Progress: 100.0%" in shown
    assert shown.count("Progress") == 1, "a log is not redrawn"


@pytest.mark.parametrize(
    ("data", "sentence"),
    [
        (b"", "is empty"),
        (b" \n\n \n", "is empty"),
        (b"fine\ncaf\xe9\n", "line 2: byte 0x.. is not valid UTF-8"),
        (b"x" * (1 << 20) + b"\n\xff", "line 2: byte 0x.. is not valid UTF-8"),
        (b"ends in half a letter \xc3", "line 1: byte 0x.. is not valid UTF-8"),
        (b"\x1f\x8b\x08\x00packed", "line 1: byte 0x.. is not valid UTF-8"),
    ],
)
def test_text_that_is_none_is_named(tmp_path: Path, data: bytes, sentence: str) -> None:
    (tmp_path / "a").write_bytes(data)
    with pytest.raises(InputError, match=sentence):
        train([tmp_path / "a"], tmp_path / "m", **SMALL)
    assert [path.name for path in tmp_path.iterdir()] == ["a"], "nothing half-made is left"


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"min_count": 10_000}, "no word in .* occurs 10000 times"),
        ({"model": "glove"}, "--model is one of skipgram, cbow, not 'glove'"),
        ({"dim": 0}, "--dim is 0: give a number from 1"),
        ({"epoch": -1}, "--epoch is -1: give a number from 1"),
        *(
            ({name: 2**31}, f"--{name.replace('_', '-')} is 2147483648: give a number from . to 2147483647")
            for name in ("epoch", "min_count", "window", "negatives", "max_subword", "seed", "buckets")
        ),
        ({"threads": 0}, "--threads is 0: give a number from 1"),
        ({"lr": 0.0}, "--lr is 0.0: give a number above 0"),
        ({"lr": float("nan")}, "--lr is nan: give a finite number"),
        ({"min_subword": 5, "max_subword": 3}, "subwords of 5 to 3 characters"),
    ],
)
def test_impossible_settings_are_refused(text: Path, tmp_path: Path, change: dict, sentence: str) -> None:
    with pytest.raises(InputError, match=sentence):
        train([text], tmp_path / "m", **{**SMALL, **change})
    assert list(tmp_path.iterdir()) == []


def test_missing_text_and_places_are_named(text: Path, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no text file at"):
        train([tmp_path / "none"], tmp_path / "m", **SMALL)
    with pytest.raises(InputError, match="is a directory"):
        train([tmp_path], tmp_path / "m", **SMALL)
    with pytest.raises(InputError, match="no text to train"):
        train([], tmp_path / "m", **SMALL)
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(InputError, match="pipe is a pipe, and would have to be read twice"):
        train([tmp_path / "pipe"], tmp_path / "m", **SMALL)
    (tmp_path / "file").touch()
    for output in (".", "..", "", "deep/..", "/dev/null"):
        with pytest.raises(InputError, match=f"^{output or '.'} cannot begin the names of two files"):
            train([text], output, **SMALL)
    with pytest.raises(InputError, match="is no name in UTF-8"):
        train([text], tmp_path / "\udcff", **SMALL)
    assert [path.name for path in tmp_path.iterdir() if not path.name.isascii()] == []
    with pytest.raises(InputError, match=r"cannot make the folder of .*: File exists"):
        train([text], tmp_path / "file" / "m", **SMALL)
    with pytest.raises(InputError, match=r"^cannot write /proc/self/task/m\.bin: No such file"):  # before it trains
        train([text], "/proc/self/task/m", **SMALL)


@pytest.mark.slow
def test_real_captions_give_sensible_neighbours(data_dir: Path, tmp_path: Path) -> None:
    text = data_dir / "mt" / "multi30k" / "train.en"
    # One thread: with two the result depends on which is faster.
    settings = {"dim": 25, "epoch": 5, "buckets": 50_000, "threads": 1}
    table = train([text], tmp_path / "en", **settings)
    found = {word for word, _ in neighbours(table, ["red"], k=10)["red"]}
    assert len(found & {"blue", "green", "yellow", "purple", "white", "black"}) >= 3, found


@pytest.mark.parametrize("room", [0, 100, 3000, 12_000, 25_000])
@pytest.mark.parametrize("parts", [1, 2])
def test_a_full_disk(text: Path, tmp_path: Path, room: int, parts: int) -> None:
    train([text], tmp_path / "m", **SMALL)
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    assert len(before["m.bin"]) > 12_000 + 500
    limit = resource.getrlimit(resource.RLIMIT_FSIZE)
    texts = [text] * parts
    resource.setrlimit(resource.RLIMIT_FSIZE, (room, limit[1]))
    try:
        if room == 25_000 and parts == 1:
            train(texts, tmp_path / "m", **SMALL)
        else:
            with pytest.raises(InputError, match=r"^cannot write .*/m\.bin: (File too large|it came out incomplete)"):
                train(texts, tmp_path / "m", **SMALL)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limit)
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == before
