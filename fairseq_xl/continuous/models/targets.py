"""The frozen table of a target dictionary, kept in checkpoints."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from fairseq_xl.compat.dictionaries import fingerprint
from fairseq_xl.io.errors import InputError
from fairseq_xl.losses.table import FrozenTable, TargetNorm
from fairseq_xl.vectors.targets import WordList, target_rows


class TargetTable(FrozenTable):
    """The table of a dictionary, one row per entry, that a model carries in its checkpoint.

    Padding, beginning of sentence, dictionary fillers, and words without a vector under the policy ``unk`` are banned.
    A third buffer, ``fingerprint``, identifies the dictionary.

    Build one with :func:`build_table`, or :meth:`awaiting_checkpoint` when a state dict will fill it.
    """

    fingerprint: Tensor
    frozen = True
    """Its buffers are copied, not averaged, into the model of ``--store-ema``."""

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
        """For a vocabulary swap: take only this many leading (special) rows from a checkpoint that is loaded."""
        self.swapped = keep_rows > 0
        self.num_updates = 0
        """The number of updates of the model that carries the table, for losses that change while training."""

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
                    f"the checkpoint's target table has {stored.shape[0]} rows, but the target dictionary has "
                    f"{self.table.shape[0]} entries. Use the data folder (dict.*.txt) the model was trained with, "
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
                    "another --special-vectors or --missing-vectors. Give what its training began with, or begin anew "
                    "in another --save-dir"
                )
        super()._load_from_state_dict(state_dict, prefix, *args, **kwargs)
        self.filled = self.filled or stored is not None

    def _is_same(self, state_dict: dict[str, Tensor], prefix: str) -> bool:
        """Whether a checkpoint has this table, apart from the rounding of a shorter type."""
        stored = state_dict[f"{prefix}table"]
        rounding = 1e-6 if stored.dtype == self.table.dtype == torch.float32 else 1e-2
        near = torch.allclose(stored.cpu().float(), self.table.cpu().float(), rtol=0, atol=rounding)
        return near and torch.equal(state_dict[f"{prefix}banned"].cpu(), self.banned.cpu())

    def _swap_into(self, state_dict: dict[str, Tensor], prefix: str) -> None:
        stored = state_dict[f"{prefix}table"]
        if stored.shape[1] != self.dim:
            raise InputError(f"the vectors to swap in have {self.dim} dimensions, the model predicts {stored.shape[1]}")
        table, banned, known = self.table.clone(), self.banned.clone(), ~state_dict[f"{prefix}banned"]
        table[: self.keep_rows] = stored[: self.keep_rows].to(table)
        banned[: self.keep_rows] = state_dict[f"{prefix}banned"][: self.keep_rows].to(banned)
        state_dict[f"{prefix}table"] = table
        state_dict[f"{prefix}banned"] = banned
        state_dict[f"{prefix}fingerprint"] = self.fingerprint
        learnt = state_dict.get(f"{prefix}bias")
        if learnt is not None:
            # A word that training did not know is as likely as the mean of those that it knew.
            bias = learnt[self.keep_rows :][known[self.keep_rows :]].mean().expand(table.shape[0]).clone()
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
    swap: bool = False,
) -> TargetTable:
    """The table of a dictionary, whose rows :func:`target_rows` reads from a vector file.

    Args:
        dictionary: a fairseq dictionary.
        path, dim, special, missing, min_coverage: as there.
        swap: take the special rows from the checkpoint that will be loaded.

    Raises:
        InputError: as there.
    """
    rows = target_rows(dictionary, path, dim=dim, special=special, missing=missing, min_coverage=min_coverage)
    keep_rows = dictionary.nspecial if swap else 0
    return TargetTable(
        torch.from_numpy(rows.table), torch.from_numpy(rows.banned), dictionary.symbols, keep_rows=keep_rows
    )
