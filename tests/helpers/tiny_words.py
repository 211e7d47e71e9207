"""Small dictionaries and vector files for untrained models."""

from __future__ import annotations

from pathlib import Path

import random_vectors
from fairseq.data import Dictionary


def dictionary(size: int) -> Dictionary:
    """fairseq's special tokens and w0, w1 …, the first the most frequent."""
    made = Dictionary()
    for i in range(size):
        made.add_symbol(f"w{i}", n=size - i)
    return made


def write_vectors(path: Path, words: int, dim: int) -> str:
    """A file of random vectors for w0, w1 …; its name."""
    return random_vectors.write(path, (f"w{i}" for i in range(words)), dim)
