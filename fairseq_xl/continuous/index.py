"""Approximate nearest words by faiss, for tables too large to read at every step."""

from __future__ import annotations

import hashlib
import importlib
import math
import os
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor
from tqdm import tqdm

from fairseq_xl.continuous.targets import TargetTable
from fairseq_xl.errors import InputError

KINDS = ("flat", "hnsw", "ivf")


def _faiss() -> Any:
    try:
        return importlib.import_module("faiss")
    except ImportError as error:
        raise InputError(
            f"an index needs faiss, which does not import ({error}): pip install 'fairseq-xl[index]'"
        ) from error


class WordIndex:
    """The ordinary words of a target table, searched by inner product.

    ``flat`` compares every word and is exact. ``hnsw`` walks a graph of neighbours (Malkov & Yashunin 2018). ``ivf``
    compares the words of the nearest of 4√M clusters. A hub penalty is part of what is searched: the vectors are
    [w, −penalty], the queries [û, 1].

    Args:
        targets: the table; its first ``special`` rows and the banned ones are left out.
        kind: one of KINDS.
        special: how many rows at the head are special tokens.
        penalty: (V,) subtracted from cosines, or None.
        folder: keep the finished index here, under a name made from its content, and read it from here next time.
        effort: how much is searched, as a multiple of the default: raise it for recall, lower it for speed.

    Raises:
        InputError: faiss is missing; an unknown kind; the kept index cannot be read.
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
        faiss = _faiss()
        rows = targets.candidates()
        rows = rows[rows >= special]
        self.rows = rows.cpu().numpy()
        vectors = targets.table[rows].cpu().numpy()
        self.penalised = penalty is not None
        if penalty is not None:
            vectors = np.concatenate([vectors, -penalty[rows].cpu().numpy()[:, None]], axis=1)
        vectors = np.ascontiguousarray(vectors, dtype=np.float32)
        self.index = _kept(faiss, vectors, kind, folder)
        if kind == "hnsw":
            self.index.hnsw.efSearch = max(1, round(256 * effort))
        elif kind == "ivf":
            self.index.nprobe = max(1, min(self.index.nlist, round(self.index.nlist / 16 * effort)))

    def search(self, unit: Tensor, k: int) -> Tensor:
        """Rows (N, k) of the table found nearest to unit vectors (N, d), best first; −1 where fewer were found."""
        queries = unit.detach().float().cpu().numpy()
        if self.penalised:
            queries = np.concatenate([queries, np.ones((len(queries), 1), np.float32)], axis=1)
        _, found = self.index.search(np.ascontiguousarray(queries), k)
        words = np.where(found < 0, -1, self.rows[found])
        return torch.from_numpy(words).to(unit.device)


def _kept(faiss: Any, vectors: np.ndarray, kind: str, folder: str | Path | None) -> Any:
    if folder is None:
        return _build(faiss, vectors, kind)
    digest = hashlib.sha256(vectors.tobytes()).hexdigest()[:16]
    path = Path(folder) / f"{kind}.{digest}.faiss"
    if path.exists():
        try:
            return faiss.read_index(str(path))
        except RuntimeError as error:
            raise InputError(f"{path} is no index that faiss can read: remove it") from error
    index = _build(faiss, vectors, kind)
    path.parent.mkdir(parents=True, exist_ok=True)
    unfinished = path.with_name(f"{path.name}.{os.getpid()}.tmp")
    faiss.write_index(index, str(unfinished))
    unfinished.replace(path)
    return index


def _build(faiss: Any, vectors: np.ndarray, kind: str) -> Any:
    count, dim = vectors.shape
    if kind == "flat":
        index = faiss.IndexFlatIP(dim)
    elif kind == "hnsw":
        index = faiss.IndexHNSWFlat(dim, 32, faiss.METRIC_INNER_PRODUCT)
        index.hnsw.efConstruction = 80
    else:
        lists = max(1, min(count // 40, round(4 * math.sqrt(count))))
        index = faiss.IndexIVFFlat(faiss.IndexFlatIP(dim), dim, lists, faiss.METRIC_INNER_PRODUCT)
        # faiss's own 25 rounds over 256 points a cluster take 20 minutes for a million words on two cores, and
        # recall hardly depends on them.
        index.cp.max_points_per_centroid, index.cp.niter = 64, 10
        index.train(vectors)
    block = 10_000
    for start in tqdm(
        range(0, count, block), desc=f"{kind} index", unit="block", disable=count < 5 * block
    ):
        index.add(vectors[start : start + block])
    return index
