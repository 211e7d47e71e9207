"""Cosines of every row of a matrix to every row of another, block by block, so that memory stays bounded.

They are computed in float64. Embeddings often share a large common part, so that their cosines differ only from the
seventh digit on. In float32 other rows would appear as the nearest.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TypeAlias

import numpy as np
import torch
from scipy import sparse
from torch import Tensor

from fairseq_xl.io.progress import progress_bar

Matrix: TypeAlias = np.ndarray | sparse.csr_array
"""(N, d): the embeddings of N sentences"""

TIE = 1e-9
"""cosines that differ by no more are equal: it is far above rounding, far below what vectors tell apart"""

BLOCK_BYTES = 2**27
"""of one block of cosines"""


class Directions:
    """The rows of a matrix scaled to length one; rows of zeros stay, and have cosine 0 to everything.

    Args:
        vectors: (N, d), dense or sparse, of any real type.
        device: where blocks of cosines are; sparse rows are multiplied on the CPU.
    """

    def __init__(self, vectors: Matrix, device: torch.device | str = "cpu"):
        self.device = device
        if sparse.issparse(vectors):
            norms = sparse.linalg.norm(vectors, axis=1)
            scale = sparse.diags_array(1 / np.where(norms > 0, norms, 1))
            self.rows: Tensor | sparse.csr_array = (scale @ vectors.astype(np.float64)).tocsr()
        else:
            rows = torch.from_numpy(np.array(vectors, dtype=np.float64)).to(device)
            norms = rows.norm(dim=1, keepdim=True)
            self.rows = rows.div_(torch.where(norms > 0, norms, torch.ones_like(norms)))

    def __len__(self) -> int:
        return self.rows.shape[0]

    def cosines(self, start: int, stop: int, others: Directions) -> Tensor:
        """(stop − start, M): of the rows from ``start`` to ``stop`` to all M rows of ``others``."""
        if isinstance(self.rows, Tensor):
            return self.rows[start:stop] @ others.rows.T
        return torch.from_numpy((self.rows[start:stop] @ others.rows.T).toarray()).to(self.device)


def blocks(rows: int, columns: int, what: str = "") -> Iterator[tuple[int, int]]:
    """Where each block of rows starts and stops, so that float64 rows of ``columns`` numbers fill BLOCK_BYTES.

    ``what`` is done is shown as a bar, where it has a name.
    """
    size = max(1, BLOCK_BYTES // (8 * max(columns, 1)))
    with progress_bar(what, bool(what), total=rows, unit=" sentences") as bar:
        for start in range(0, rows, size):
            stop = min(start + size, rows)
            yield start, stop
            bar.update(stop - start)
