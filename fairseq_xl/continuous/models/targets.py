"""The frozen table of a target dictionary: read from a vector file, special tokens settled, kept in checkpoints."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
import torch
from torch import Tensor

from fairseq_xl.compat.dictionaries import fingerprint
from fairseq_xl.io.errors import InputError
from fairseq_xl.losses.table import FrozenTable, TargetNorm
from fairseq_xl.vectors.random import random_unit_vector
from fairseq_xl.vectors.table import WordVectors, read_vectors

logger = logging.getLogger(__name__)

SPECIAL_POLICIES = ("random", "file")
MISSING_POLICIES = ("random", "unk", "error")


class WordList(Protocol):
    """The part of ``fairseq.data.Dictionary`` used here."""

    symbols: list[str]
    count: list[int]
    nspecial: int

    def __len__(self) -> int: ...
    def bos(self) -> int: ...
    def pad(self) -> int: ...
    def eos(self) -> int: ...
    def unk(self) -> int: ...


def is_filler(symbol: str) -> bool:
    """``madeupword0001``: what fairseq-preprocess appends to round a dictionary's size."""
    return symbol.startswith("madeupword") and symbol[10:].isdigit()


class TargetTable(FrozenTable):
    """The table of a dictionary, one row per entry, that a model carries in its checkpoint.

    Banned are padding, beginning of sentence, dictionary fillers, and words without a vector under the policy ``unk``.
    A third buffer, ``fingerprint``, tells the dictionary.

    Build one with :func:`build_table`, or :meth:`awaiting_checkpoint` when a state dict will fill it.
    """

    if TYPE_CHECKING:  # TorchScript reads what a class annotates, not what its strings mean
        fingerprint: Tensor

    def __init__(
        self,
        table: Tensor,
        banned: Tensor,
        symbols: Sequence[str],
        keep_rows: int = 0,
        target_norm: TargetNorm = "check",
    ):
        super().__init__(table, banned, target_norm)
        self.register_buffer("fingerprint", torch.tensor(fingerprint(symbols)))
        self.filled = True
        self.keep_rows = keep_rows
        """When a checkpoint is loaded, take only this many leading (special) rows from it: a vocabulary swap."""
        self.swapped = keep_rows > 0
        self.num_updates = 0
        """How many updates the model that carries it has had, for losses that change while training."""

    @classmethod
    def awaiting_checkpoint(cls, symbols: Sequence[str], dim: int) -> TargetTable:
        """An empty table of the right size, to be filled by ``load_state_dict``."""
        size = len(symbols)
        made = cls(torch.zeros(size, dim), torch.zeros(size, dtype=torch.bool), symbols, target_norm="trust")
        made.filled = False
        return made

    def set_num_updates(self, num_updates: int) -> None:
        """fairseq calls this on every part of a model, before each update and when it loads a checkpoint."""
        self.num_updates = num_updates

    def _load_from_state_dict(self, state_dict: dict[str, Tensor], prefix: str, *args: Any, **kwargs: Any) -> None:
        stored = state_dict.get(f"{prefix}table")
        if stored is not None:
            if self.swapped:
                self._swap_into(state_dict, prefix)
            elif stored.shape[0] != self.table.shape[0]:
                raise InputError(
                    f"the checkpoint's target table has {stored.shape[0]} rows but the target dictionary "
                    f"{self.table.shape[0]} entries: use the data folder (dict.*.txt) the model was trained with, "
                    "or give this dictionary's vectors with --model-overrides \"{'swap_vectors': 'FILE'}\""
                )
            elif int(state_dict[f"{prefix}fingerprint"]) != int(self.fingerprint):
                raise InputError(
                    "the checkpoint's target table was made for another dictionary of the same size: use the data "
                    "folder (dict.*.txt) the model was trained with"
                )
            elif self.filled and stored.shape == self.table.shape and not self._is_same(state_dict, prefix):
                raise InputError(
                    "the checkpoint was trained with other target vectors than those of --target-vectors, or with "
                    "another --special-vectors or --missing-vectors: give what it was begun with, or begin anew in "
                    "another --save-dir"
                )
        super()._load_from_state_dict(state_dict, prefix, *args, **kwargs)
        self._rows = self._mean = None
        self.filled = self.filled or stored is not None

    def _is_same(self, state_dict: dict[str, Tensor], prefix: str) -> bool:
        """Whether a checkpoint has this table, but for the rounding of a shorter type."""
        stored = state_dict[f"{prefix}table"]
        rounding = 1e-6 if stored.dtype == self.table.dtype == torch.float32 else 1e-2
        near = torch.allclose(stored.cpu().float(), self.table.cpu().float(), rtol=0, atol=rounding)
        return near and torch.equal(state_dict[f"{prefix}banned"].cpu(), self.banned.cpu())

    def _swap_into(self, state_dict: dict[str, Tensor], prefix: str) -> None:
        stored = state_dict[f"{prefix}table"]
        if stored.shape[1] != self.dim:
            raise InputError(f"the vectors to swap in have {self.dim} dimensions, the model predicts {stored.shape[1]}")
        table, banned = self.table.clone(), self.banned.clone()
        table[: self.keep_rows] = stored[: self.keep_rows].to(table)
        banned[: self.keep_rows] = state_dict[f"{prefix}banned"][: self.keep_rows].to(banned)
        state_dict[f"{prefix}table"] = table
        state_dict[f"{prefix}banned"] = banned
        state_dict[f"{prefix}fingerprint"] = self.fingerprint
        learnt = state_dict.get(f"{prefix}bias")
        if learnt is not None:
            # A word that training did not know is as likely as the mean of those that it knew.
            bias = learnt[self.keep_rows :].mean().expand(table.shape[0]).clone()
            bias[: self.keep_rows] = learnt[: self.keep_rows]
            state_dict[f"{prefix}bias"] = bias


def build_table(
    dictionary: WordList,
    path: str | Path,
    *,
    dim: int | None = None,
    special: str = "random",
    missing: str = "random",
    min_coverage: float = 0.5,
    seed: int = 0,
    swap: bool = False,
) -> TargetTable:
    """Read a vector file for a dictionary and settle every row.

    Words take their vector from the file, scaled to length one. Specials: padding is a zero row and beginning of
    sentence a random one, both never predicted. End of sentence and unknown need directions of their own, since
    both are predicted: with ``special="random"`` each is a seeded random unit vector, nearly orthogonal to every
    word; with ``"file"`` they are the file's rows ``</s>`` and ``<unk>``. Words the file lacks: ``random`` gives
    each a seeded random direction that can be learnt like any other; ``unk`` gives them the vector of ``<unk>``
    and never predicts them; ``error`` refuses.

    Args:
        dictionary: a fairseq dictionary.
        path: any format of :func:`fairseq_xl.vectors.table.read_vectors`.
        dim: required dimension, if any.
        special: one of SPECIAL_POLICIES.
        missing: one of MISSING_POLICIES.
        min_coverage: refuse when a smaller share of the dictionary's words (types) has a vector.
        seed: of the random directions.
        swap: take the special rows from the checkpoint that will be loaded.

    Raises:
        InputError: unreadable file, wrong dimension, coverage below ``min_coverage``, missing specials or words
            under a policy that needs them.
    """
    _require("special-vectors", special, SPECIAL_POLICIES)
    _require("missing-vectors", missing, MISSING_POLICIES)
    symbols = dictionary.symbols
    vectors = read_vectors(path, words=set(symbols), dim=dim)
    index = vectors.index
    table = np.zeros((len(symbols), vectors.dim), dtype=np.float32)
    banned = np.zeros(len(symbols), dtype=bool)
    absent: list[int] = []
    for row, symbol in enumerate(symbols):
        if row < dictionary.nspecial:
            continue
        if is_filler(symbol):
            banned[row] = True
        elif symbol in index:
            table[row] = vectors.matrix[index[symbol]]
        else:
            absent.append(row)
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
    return TargetTable(
        torch.from_numpy(table), torch.from_numpy(banned), symbols, keep_rows=dictionary.nspecial if swap else 0
    )


def _require(option: str, value: str, allowed: Sequence[str]) -> None:
    if value not in allowed:
        raise InputError(f"--{option} is one of {', '.join(allowed)}, not {value!r}")


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
        raise InputError(f"{path} gives </s> and <unk> the same vector, so neither could be told")


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
            f"{what}, so only {covered:.1%} are covered: is it the right file and language? "
            f"--min-coverage {min_coverage} sets the least that is accepted"
        )
    logger.warning("%s; --missing-vectors %s decides what they get", what, missing)
