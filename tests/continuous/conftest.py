"""Small dictionaries and vector files for untrained models."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from fairseq.data import Dictionary


@pytest.fixture
def dictionary() -> Callable[[int], Dictionary]:
    """``dictionary(SIZE)``: fairseq's special tokens and w0, w1 …, the first the most frequent."""

    def make(size: int) -> Dictionary:
        made = Dictionary()
        for i in range(size):
            made.add_symbol(f"w{i}", n=size - i)
        return made

    return make


@pytest.fixture
def write_vectors(tmp_path: Path) -> Callable[[int, int], str]:
    """``write_vectors(WORDS, DIM)``: a file of random vectors for w0, w1 …"""

    def write(words: int, dim: int) -> str:
        rng = np.random.default_rng(0)
        rows = [f"w{i} " + " ".join(f"{x:.4f}" for x in rng.standard_normal(dim)) for i in range(words)]
        path = tmp_path / "v.vec"
        path.write_text(f"{words} {dim}\n" + "\n".join(rows) + "\n")
        return str(path)

    return write


@pytest.fixture
def task(dictionary) -> SimpleNamespace:
    """The part of a task that models are built from: 11 source and 13 target words."""
    return SimpleNamespace(source_dictionary=dictionary(11), target_dictionary=dictionary(13))
