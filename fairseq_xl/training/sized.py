"""What fairseq asks of every dataset whose samples have a length each."""

from __future__ import annotations

import numpy as np
from fairseq.data import FairseqDataset


class SizedDataset(FairseqDataset):
    """Samples with a length, batched by it.

    Attributes:
        sizes: (N,) in tokens.
    """

    sizes: np.ndarray

    def num_tokens(self, index: int) -> int:
        return int(self.sizes[index])

    def num_tokens_vec(self, indices: np.ndarray) -> np.ndarray:
        return self.sizes[indices]

    def size(self, index: int) -> int:
        return int(self.sizes[index])

    def ordered_indices(self) -> np.ndarray:
        """By length, so that a batch is little padded."""
        return np.argsort(self.sizes, kind="stable")
