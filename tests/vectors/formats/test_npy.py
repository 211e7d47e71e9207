"""Arrays with a vocabulary beside them; nothing in them is ever unpickled."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest

from fairseq_xl.io.errors import InputError
from fairseq_xl.vectors.table import WordVectors, read_vectors, write_vectors


def save(folder: Path, array: np.ndarray, words: list[str], pickled: bool = False) -> Path:
    np.save(folder / "x.npy", array, allow_pickle=pickled)
    (folder / "x.vocab").write_text("".join(f"{word}\n" for word in words), encoding="utf-8")
    return folder / "x.npy"


@pytest.mark.parametrize("kind", ["float16", "float64", "int8", ">f4"])
@pytest.mark.parametrize("order", ["C", "F"])
def test_arrays_of_other_kinds_become_float32(tmp_path: Path, kind: str, order: str) -> None:
    array = np.array([[1, 2], [3, 4], [5, 6]], dtype=kind, order=order)
    table = read_vectors(save(tmp_path, array, ["a", "b", "c"]), words=["c", "a"])
    assert table.matrix.dtype == np.float32
    np.testing.assert_array_equal(table.matrix, [[5, 6], [1, 2]])


def test_a_pipe_gets_the_bytes_of_a_file(tmp_path: Path) -> None:
    vectors = WordVectors(["a", "b"], np.array([[1, 2], [3, 4]], dtype=np.float32))
    write_vectors(tmp_path / "file.npy", vectors, progress=False)
    os.mkfifo(tmp_path / "pipe.npy")
    reading = os.open(tmp_path / "pipe.npy", os.O_RDONLY | os.O_NONBLOCK)
    write_vectors(tmp_path / "pipe.npy", vectors, progress=False)
    assert os.read(reading, 10_000) == (tmp_path / "file.npy").read_bytes()
    os.close(reading)
    assert (tmp_path / "pipe.vocab").read_text() == "a\nb\n"


class Trap:
    """Unpickling it would leave a file behind."""

    def __init__(self, path: Path) -> None:
        self.path = str(path)

    def __reduce__(self):
        return os.mkdir, (self.path,)


def test_pickled_objects_are_refused_without_being_run(tmp_path: Path) -> None:
    array = np.array([[Trap(tmp_path / "sprung")]], dtype=object)
    path = save(tmp_path, array, ["a"], pickled=True)
    with pytest.raises(InputError, match=r"x\.npy holds pickled Python objects, .* never loaded"):
        read_vectors(path)
    path.write_bytes(array.dumps())  # a bare pickle under the name of an array
    with pytest.raises(InputError, match=r"x\.npy is not a \.npy file"):
        read_vectors(path)
    assert not (tmp_path / "sprung").exists()


def test_another_number_of_words_is_named(tmp_path: Path) -> None:
    path = save(tmp_path, np.ones((3, 2)), ["a", "b"])
    with pytest.raises(InputError, match=r"3 rows but .*x\.vocab has 2 words"):
        read_vectors(path)


def test_a_missing_vocabulary_is_named(tmp_path: Path) -> None:
    path = save(tmp_path, np.ones((1, 2)), ["a"])
    (tmp_path / "x.vocab").unlink()
    with pytest.raises(InputError, match=r"x\.vocab is missing"):
        read_vectors(path)


def test_a_vocabulary_in_another_encoding_is_named(tmp_path: Path) -> None:
    path = save(tmp_path, np.ones((2, 2)), ["a", "b"])
    (tmp_path / "x.vocab").write_bytes(b"a\ncaf\xe9\n")
    with pytest.raises(InputError, match=r"x\.vocab, line 2: byte 0xe9 is not valid UTF-8"):
        read_vectors(path)


@pytest.mark.parametrize("length", [8, 60, 140])
def test_a_truncated_array_is_named(tmp_path: Path, length: int) -> None:
    path = save(tmp_path, np.ones((10, 5)), [str(n) for n in range(10)])
    path.write_bytes(path.read_bytes()[:length])
    with pytest.raises(InputError, match=r"x\.npy is a damaged or truncated"):
        read_vectors(path)


@pytest.mark.parametrize(
    "array",
    [np.ones(3), np.ones((3, 2, 2)), np.ones((3, 0)), np.ones((3, 2), dtype=complex), np.array([["a"], ["b"], ["c"]])],
)
def test_an_array_that_is_no_table_is_named(tmp_path: Path, array: np.ndarray) -> None:
    path = save(tmp_path, array, ["a", "b", "c"])
    with pytest.raises(InputError, match=r"expected real numbers of shape \(words, dimension\)"):
        read_vectors(path)


def test_an_array_without_rows_is_empty(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="is empty"):
        read_vectors(save(tmp_path, np.ones((0, 2)), []))


def test_numbers_beyond_float32_are_infinite(tmp_path: Path) -> None:
    path = save(tmp_path, np.array([[1.0, 1e300]]), ["huge"])
    with pytest.raises(InputError, match="'huge' holds NaN or infinity"):
        read_vectors(path)
