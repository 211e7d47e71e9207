"""The row of every word of a target dictionary, read from a vector file, and those of its special tokens."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple, Protocol

import numpy as np

from fairseq_xl.io.errors import InputError
from fairseq_xl.vectors.dictionary import is_filler
from fairseq_xl.vectors.random import random_unit_vector
from fairseq_xl.vectors.table import WordVectors, read_vectors

logger = logging.getLogger(__name__)

SPECIAL_POLICIES = ("random", "file")
MISSING_POLICIES = ("random", "unk", "error")


class WordList(Protocol):
    """The part of ``fairseq.data.Dictionary`` used here: special tokens first, then words."""

    symbols: list[str]
    count: list[int]
    nspecial: int

    def __len__(self) -> int: ...
    def bos(self) -> int: ...
    def pad(self) -> int: ...
    def eos(self) -> int: ...
    def unk(self) -> int: ...


class TargetRows(NamedTuple):
    """What :func:`target_rows` found."""

    table: np.ndarray
    """(V, d) float32, of unit length; padding is zero"""
    banned: np.ndarray
    """(V,) bool, never predicted"""


def log_frequency(dictionary: WordList) -> np.ndarray:
    """(V,) float32: the logarithm of each word's share of the text, for decoding.

    End of sentence counts as the most frequent word, and unknown as one occurrence.
    """
    count = np.maximum(np.asarray(dictionary.count, dtype=np.float32), 1)
    count[dictionary.eos()] = count[dictionary.nspecial :].max()
    count[dictionary.unk()] = 1
    return np.log(count / count.sum())


def target_rows(
    dictionary: WordList,
    path: str | Path,
    *,
    dim: int | None = None,
    special: str = "random",
    missing: str = "random",
    min_coverage: float = 0.5,
    seed: int = 0,
    fillers: Callable[[str], bool] = is_filler,
) -> TargetRows:
    """The row of every entry of a dictionary, words read from a vector file.

    Words take their vector from the file, scaled to length one. Padding is a zero row and beginning of sentence a
    random one. Neither is ever predicted. End of sentence and unknown need directions of their own, since both are
    predicted. With ``special="random"`` each is a seeded random unit vector, nearly orthogonal to every word. With
    ``"file"`` they are the file's rows ``</s>`` and ``<unk>``. ``missing`` decides about words that the file lacks. The
    policy ``random`` gives each a seeded random direction that can be learnt like any other. The policy ``unk`` gives
    them the vector of ``<unk>`` and never predicts them. The policy ``error`` refuses the file.

    Args:
        dictionary: the words.
        path: any format of :func:`fairseq_xl.vectors.table.read_vectors`.
        dim: required dimension, if any.
        special: one of SPECIAL_POLICIES.
        missing: one of MISSING_POLICIES.
        min_coverage: refuse when a smaller share of the dictionary's words (types) has a vector.
        seed: of the random directions.
        fillers: whether an entry only rounds the dictionary's size, and is banned.

    Raises:
        InputError: The file is unreadable or has another dimension. The coverage is below ``min_coverage``. Special
            tokens or words are missing under a policy that needs them.
    """
    _require("special-vectors", special, SPECIAL_POLICIES)
    _require("missing-vectors", missing, MISSING_POLICIES)
    symbols = dictionary.symbols
    vectors = read_vectors(path, words=set(symbols), dim=dim)
    table, banned, absent = _words_of_file(dictionary, vectors, fillers)
    _fill_specials(table, dictionary, vectors, special, seed, path)
    banned[[dictionary.pad(), dictionary.bos()]] = True
    _check_coverage(dictionary, absent, banned, min_coverage, missing, path)
    for row in absent:
        if missing == "unk":
            table[row], banned[row] = table[dictionary.unk()], True
        else:
            table[row] = random_unit_vector(symbols[row], vectors.dim, seed)
    norms = np.linalg.norm(table, axis=1, keepdims=True)
    table /= np.where(norms > 0, norms, 1)
    return TargetRows(table, banned)


def _require(option: str, value: str, allowed: Sequence[str]) -> None:
    if value not in allowed:
        raise InputError(f"--{option} is one of {', '.join(allowed)}, not {value!r}")


def _words_of_file(
    dictionary: WordList, vectors: WordVectors, fillers: Callable[[str], bool]
) -> tuple[np.ndarray, np.ndarray, list[int]]:
    """The table with the words that a file has, which rows are fillers and so banned, and the rows of absent words."""
    table = np.zeros((len(dictionary.symbols), vectors.dim), dtype=np.float32)
    banned = np.zeros(len(dictionary.symbols), dtype=bool)
    absent: list[int] = []
    for row, symbol in enumerate(dictionary.symbols):
        if row < dictionary.nspecial:
            continue
        if fillers(symbol):
            banned[row] = True
        elif symbol in vectors.index:
            table[row] = vectors.matrix[vectors.index[symbol]]
        else:
            absent.append(row)
    return table, banned, absent


def _fill_specials(
    table: np.ndarray, dictionary: WordList, vectors: WordVectors, policy: str, seed: int, path: str | Path
) -> None:
    for row in (dictionary.bos(), dictionary.eos(), dictionary.unk()):
        symbol = dictionary.symbols[row]
        if policy == "file" and row != dictionary.bos():
            if symbol not in vectors.index:
                raise InputError(f"{path} has no vector for {symbol}: add one, or use --special-vectors random")
            table[row] = vectors.matrix[vectors.index[symbol]]
        else:
            table[row] = random_unit_vector(symbol, vectors.dim, seed)
    if np.allclose(table[dictionary.eos()], table[dictionary.unk()]):
        raise InputError(f"{path} gives </s> and <unk> the same vector, so they cannot be told apart")


def _check_coverage(
    dictionary: WordList, absent: list[int], banned: np.ndarray, min_coverage: float, missing: str, path: str | Path
) -> None:
    words = np.flatnonzero(~banned)
    words = words[words >= dictionary.nspecial]
    if not absent:
        return
    counts = np.asarray(dictionary.count, dtype=np.float64)
    tokens = counts[absent].sum() / max(counts[words].sum(), 1)
    covered = 1 - len(absent) / len(words)
    examples = ", ".join(dictionary.symbols[row] for row in absent[:5])
    what = (
        f"{path} has no vector for {len(absent)} of {len(words)} words of the dictionary ({tokens:.1%} of its "
        f"tokens; {examples}, …)"
    )
    if missing == "error":
        raise InputError(f"{what}: add them, or choose another --missing-vectors")
    if covered < min_coverage:
        raise InputError(
            f"{what}, so only {covered:.1%} are covered: is it the right file and language? {min_coverage:.0%} have to "
            "be, unless --min-coverage of a training says otherwise"
        )
    given = "each gets a random direction" if missing == "random" else "they count as <unk> and are never predicted"
    logger.warning("%s; %s", what, given)
