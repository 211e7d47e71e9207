"""One word for every encoder."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from fairseq_xl.encode.averaged import Averaging
from fairseq_xl.encode.registry import load_encoder
from fairseq_xl.io.errors import InputError

SENTENCES = ["a b", "c"]


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("size", "there is no encoder 'size': name a model's folder, a checkpoint, or npy:FILE, vectors:FILE, "),
        ("size:b", "there is no encoder 'size:b'"),
        ("npy", "encoder 'npy': write npy:FILE"),
        ("transformers-max:", "write transformers-max:NAME"),
    ],
)
def test_other_encoders_are_refused(spec: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        load_encoder(spec)


def test_rows_of_a_file(tmp_path: Path) -> None:
    rows = np.arange(6, dtype=np.float16).reshape(2, 3)
    np.save(tmp_path / "x.npy", rows)
    np.testing.assert_array_equal(load_encoder(f"npy:{tmp_path}/x.npy").encode(SENTENCES), rows)


@pytest.mark.parametrize(
    ("array", "message"),
    [
        (np.zeros((3, 2)), r"x\.npy has 3 rows, but there are 2 sentences"),
        (np.zeros(2), "holds an array of shape"),
        (np.zeros((2, 2), dtype=np.int64), "type int64"),
        (np.array([[1.0, 2], [np.nan, 1]]), "sentence 2 holds NaN"),
        (np.array([[np.inf, 2], [0, 1]]), "sentence 1 holds NaN or infinity"),
        (np.array([{}, {}], dtype=object), "pickled"),
        (None, r"there is no .*x\.npy"),
    ],
)
def test_files_that_do_not_fit_are_refused(tmp_path: Path, array: np.ndarray | None, message: str) -> None:
    if array is not None:
        np.save(tmp_path / "x.npy", array, allow_pickle=True)
    with pytest.raises(InputError, match=message):
        load_encoder(f"npy:{tmp_path}/x.npy").encode(SENTENCES)


def test_word_vectors_are_averaged_as_asked(tmp_path: Path) -> None:
    (tmp_path / "x.vec").write_text("2 2\na 1 3\nc 3 5\n", encoding="utf-8")
    spec = f"vectors:{tmp_path}/x.vec"
    np.testing.assert_array_equal(load_encoder(spec).encode(SENTENCES), [[1, 3], [3, 5]])
    halved = load_encoder(spec, averaging=Averaging(smoothing=1 / 3)).encode(SENTENCES)  # each word is a third
    np.testing.assert_allclose(halved, [[0.5, 1.5], [1.5, 2.5]])


def test_a_path_is_a_model(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="is missing: `fairseq-xl embed pack` makes such a folder"):
        load_encoder(str(tmp_path))
