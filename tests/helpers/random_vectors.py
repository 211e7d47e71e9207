"""Vector files for tests in which any vectors will do."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import numpy as np


def write(path: Path, words: Iterable[str], dim: int, seed: int = 0) -> str:
    """A text file with a vector of normally distributed numbers for each word; its name."""
    words = list(words)
    matrix = np.random.default_rng(seed).standard_normal((len(words), dim))
    rows = [" ".join([word, *(f"{x:.4f}" for x in row)]) for word, row in zip(words, matrix, strict=True)]
    path.write_text("\n".join([f"{len(words)} {dim}", *rows]) + "\n", encoding="utf-8")
    return str(path)
