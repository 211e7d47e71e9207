"""A table as a NumPy array X.npy with its words beside it in X.vocab, one per line: opens at once, any size."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path
from tokenize import TokenError
from types import SimpleNamespace

import numpy as np

from fairseq_xl.io.errors import InputError
from fairseq_xl.io.lines import read_lines
from fairseq_xl.vectors.formats.checks import RowCheck


def vocabulary_path(path: Path) -> Path:
    """X.vocab for X.npy."""
    return path.with_suffix(".vocab")


def read_npy(path: Path, wanted: Collection[str] | None, dim: int | None) -> tuple[list[str], np.ndarray, int]:
    """Read the wanted words' rows (n, d), or all, and count the repeated words passed over.

    The array is mapped, not loaded, and never unpickled. Raises InputError for what makes it
    unusable.
    """
    array = open_array(path)
    if array.ndim != 2 or array.dtype.kind not in "fiu" or array.shape[1] == 0:
        raise InputError(
            f"{path} holds an array of shape {array.shape} and type {array.dtype}: "
            "expected real numbers of shape (words, dimension)"
        )
    if dim is not None and array.shape[1] != dim:
        raise InputError(f"{path} holds vectors of dimension {array.shape[1]}, but dimension {dim} is needed")
    if not vocabulary_path(path).is_file():
        raise InputError(f"{vocabulary_path(path)} is missing: {path} needs its words there, one per line")
    vocabulary = list(read_lines(vocabulary_path(path)))
    if len(vocabulary) != len(array):
        raise InputError(
            f"{path} has {len(array)} rows but {vocabulary_path(path)} has {len(vocabulary)} words: "
            "they do not belong together"
        )
    if not vocabulary:
        raise InputError(f"{path} is empty: it holds no vectors")
    wanted = None if wanted is None else frozenset(wanted)
    row_of: dict[str, int] = {}
    repeated = 0
    for row, word in enumerate(vocabulary):
        if wanted is None or word in wanted:
            repeated += word in row_of
            row_of.setdefault(word, row)
    words, rows = list(row_of), np.fromiter(row_of.values(), dtype=np.int64, count=len(row_of))
    with np.errstate(over="ignore"):  # a float64 beyond float32 becomes infinite, and is then reported
        matrix = np.ascontiguousarray(array[rows], dtype=np.float32)
    RowCheck(path, place=lambda row: f"row {rows[row] + 1}").check(words, matrix)
    return words, matrix, repeated


def write_npy(array_path: Path, words_path: Path, words: list[str], matrix: np.ndarray) -> None:
    """Write the array and its vocabulary to two given names."""
    for word in words:
        if "\n" in word or word.endswith("\r"):
            raise InputError(f"the word {word!r} cannot be written to a vocabulary file of one word per line")
    with open(array_path, "wb") as file:
        # NumPy asks a file where it stands, which a pipe cannot say; of anything else it wants no more than this.
        np.save(SimpleNamespace(write=file.write), matrix, allow_pickle=False)
    words_path.write_bytes("".join(f"{word}\n" for word in words).encode())


def open_array(path: Path) -> np.ndarray:
    with open(path, "rb") as file:
        if file.read(6) != b"\x93NUMPY":
            raise InputError(f"{path} is not a .npy file (its first bytes are not NumPy's)")
    try:
        return np.load(path, mmap_mode="r", allow_pickle=False)
    except (ValueError, EOFError, OSError, SyntaxError, TokenError) as error:
        if "Python objects" in str(error) or "Object arrays" in str(error):
            raise InputError(
                f"{path} holds pickled Python objects, which are never loaded: save it as a float32 array"
            ) from error
        raise InputError(f"{path} is a damaged or truncated .npy file: write it again") from error
