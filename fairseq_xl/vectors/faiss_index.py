"""faiss indices over vectors, searched by inner product."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from fairseq_xl.io.packages import require
from fairseq_xl.io.progress import progress_bar

KINDS = ("flat", "hnsw", "ivf")
"""``flat`` compares every vector and is exact. ``hnsw`` walks a graph of neighbours (Malkov & Yashunin 2018). ``ivf``
compares the vectors of the nearest of 4√M clusters."""


def import_faiss() -> Any:
    """The package faiss, an extra.

    Raises:
        InputError: it is not installed.
    """
    return require("faiss", "index", "an index")


def build_index(vectors: np.ndarray, kind: str) -> Any:
    """An index of one of KINDS over vectors (M, d) in float32.

    Raises:
        InputError: faiss is missing.
    """
    faiss = import_faiss()
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
    for start in progress_bar(f"{kind} index", True, None, " blocks", range(0, count, block)):
        index.add(vectors[start : start + block])
    return index


def set_effort(index: Any, kind: str, effort: float = 1.0) -> None:
    """How much an approximate index searches, as a multiple of what is usual here."""
    if kind == "hnsw":
        index.hnsw.efSearch = max(1, round(256 * effort))
    elif kind == "ivf":
        index.nprobe = max(1, min(index.nlist, round(index.nlist / 16 * effort)))
