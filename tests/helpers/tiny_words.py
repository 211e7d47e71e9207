"""Small dictionaries and vector files for untrained models."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from fairseq.data import Dictionary


def dictionary(size: int) -> Dictionary:
    """fairseq's special tokens and w0, w1 …, the first the most frequent."""
    made = Dictionary()
    for i in range(size):
        made.add_symbol(f"w{i}", n=size - i)
    return made


def write_vectors(path: Path, words: int, dim: int) -> str:
    """A file of random vectors for w0, w1 …; its name."""
    rng = np.random.default_rng(0)
    rows = [f"w{i} " + " ".join(f"{x:.4f}" for x in rng.standard_normal(dim)) for i in range(words)]
    path.write_text(f"{words} {dim}\n" + "\n".join(rows) + "\n")
    return str(path)
