"""Approximate nearest words by faiss, for tables too large to read at every step."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

from fairseq_xl.continuous.models.targets import TargetTable
from fairseq_xl.io.atomic import atomic_outputs
from fairseq_xl.io.errors import InputError
from fairseq_xl.io.lines import utf8_name
from fairseq_xl.vectors.faiss_index import KINDS, build_index, import_faiss, set_effort


class WordIndex:
    """The ordinary words of a target table, searched by inner product.

    A hub penalty is part of what is searched: the vectors are [w, −penalty], the queries [û, 1].

    Args:
        targets: the table; its first ``special`` rows and the banned ones are left out.
        kind: one of KINDS.
        special: how many rows at the head are special tokens.
        penalty: (V,) subtracted from cosines, or None.
        folder: keep the finished index here, under a name made from its content, and read it from here next time.
        effort: how much is searched, as a multiple of the default: raise it for recall, lower it for speed.

    Raises:
        InputError: faiss is missing, the kind is unknown, or the kept index cannot be read.
    """

    def __init__(
        self,
        targets: TargetTable,
        kind: str,
        special: int,
        penalty: Tensor | None = None,
        folder: str | Path | None = None,
        effort: float = 1.0,
    ):
        if kind not in KINDS:
            raise InputError(f"an index is one of {', '.join(KINDS)}, not {kind!r}")
        faiss = import_faiss()
        rows = targets.candidates()
        rows = rows[rows >= special]
        self.rows = rows.cpu().numpy()
        vectors = targets.table[rows].cpu().numpy()
        self.penalised = penalty is not None
        if penalty is not None:
            vectors = np.concatenate([vectors, -penalty[rows].cpu().numpy()[:, None]], axis=1)
        vectors = np.ascontiguousarray(vectors, dtype=np.float32)
        self.index = _kept(faiss, vectors, kind, folder)
        set_effort(self.index, kind, effort)

    def search(self, unit: Tensor, k: int) -> Tensor:
        """Rows (N, k) of the table found nearest to unit vectors (N, d), best first. −1 where fewer were found."""
        queries = unit.detach().float().cpu().numpy()
        if self.penalised:
            queries = np.concatenate([queries, np.ones((len(queries), 1), np.float32)], axis=1)
        _, found = self.index.search(np.ascontiguousarray(queries), k)
        words = np.where(found < 0, -1, self.rows[found])
        return torch.from_numpy(words).to(unit.device)


def _kept(faiss: Any, vectors: np.ndarray, kind: str, folder: str | Path | None) -> Any:
    if folder is None:
        return build_index(vectors, kind)
    digest = hashlib.sha256(vectors.tobytes()).hexdigest()[:16]
    path = Path(folder) / f"{kind}.{digest}.faiss"
    if path.exists():
        try:
            return faiss.read_index(utf8_name(path))
        except RuntimeError as error:
            raise InputError(f"{path} is no index that faiss can read: remove it") from error
    index = build_index(vectors, kind)
    with atomic_outputs(path) as (unfinished,):
        faiss.write_index(index, utf8_name(unfinished))
    return index
