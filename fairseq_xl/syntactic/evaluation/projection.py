"""Embeddings in two dimensions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy import sparse
from scipy.sparse.linalg import eigsh
from torch import Tensor

from fairseq_xl.io.errors import InputError
from fairseq_xl.io.packages import require
from fairseq_xl.syntactic.evaluation.cosines import TIE, Directions, Matrix

LEAST = {"pca": 3, "umap": 5}
"""sentences; UMAP begins with eigenvectors, of which it wants three and one more than that of sentences"""


def stacked(label: str, matrices: Sequence[Matrix]) -> Matrix:
    """One matrix of the rows of several. Raises: InputError: they are of different dimension."""
    if len({matrix.shape[1] for matrix in matrices}) > 1:
        raise InputError(f"{label} has vectors of different dimension by language: map them one by one")
    return sparse.vstack(matrices, format="csr") if sparse.issparse(matrices[0]) else np.concatenate(matrices)


def project(vectors: Matrix, method: str = "pca", seed: int = 0) -> tuple[np.ndarray, float | None]:
    """Points (N, 2) for embeddings (N, d), and for PCA the share of the variance that they keep.

    Raises:
        InputError: fewer than three sentences, or five for ``umap``; embeddings that are all alike; ``umap`` where
            the package is missing.
    """
    least = LEAST[method]
    if vectors.shape[0] < least:
        raise InputError(f"{vectors.shape[0]} sentences are too few for a map by {method}: give at least {least}")
    rows = Directions(vectors)
    return _pca(rows) if method == "pca" else (_umap(rows, seed), None)


def _pca(rows: Directions) -> tuple[np.ndarray, float]:
    """Principal components of the rows scaled to length one, from their cosines, so that rows may be sparse.

    The centred cosines are XXᵀ of the centred rows X; its eigenvectors times the roots of its eigenvalues are X's
    coordinates in its principal directions.
    """
    gram = rows.cosines(0, len(rows), rows).numpy()
    if gram.max() - gram.min() <= TIE:
        raise InputError("all embeddings point the same way: there is nothing to draw")
    gram -= gram.mean(0)
    gram -= gram.mean(1, keepdims=True)
    values, directions = eigsh(gram, k=2, v0=np.ones(len(gram)) + np.arange(len(gram)))
    order = np.argsort(values)[::-1]
    values, directions = np.maximum(values[order], 0), directions[:, order]
    # An eigenvector's sign is arbitrary: the entry that is largest in size is made positive.
    largest = np.abs(directions).argmax(0)
    directions = directions * np.where(directions[largest, [0, 1]] < 0, -1, 1)
    return directions * np.sqrt(values), float(values.sum() / np.trace(gram))


def _umap(rows: Directions, seed: int) -> np.ndarray:
    umap = require("umap", "map", "--method umap")
    # UMAP takes SciPy's older sparse class alone.
    table: Any = rows.rows.numpy() if isinstance(rows.rows, Tensor) else sparse.csr_matrix(rows.rows)
    return np.asarray(umap.UMAP(metric="cosine", random_state=seed).fit_transform(table), dtype=np.float64)
