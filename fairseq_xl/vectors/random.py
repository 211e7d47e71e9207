"""Random unit vectors as targets: the baseline that shows what trained vectors are worth."""

from __future__ import annotations

import hashlib
from collections.abc import Collection

import numpy as np

from fairseq_xl.io.errors import InputError
from fairseq_xl.vectors.table import WordVectors


def random_unit_vector(word: str, dim: int, seed: int) -> np.ndarray:
    """A direction (dim,), float32, uniform on the sphere. It depends on the word and the seed alone."""
    digest = hashlib.sha256(f"{seed} {word}".encode()).digest()
    vector = np.random.default_rng(int.from_bytes(digest, "big")).standard_normal(dim)
    return (vector / np.linalg.norm(vector)).astype(np.float32)


def random_vectors(words: Collection[str], dim: int, seed: int = 0) -> WordVectors:
    """Seeded random unit vectors (n, dim) of distinct words, in their order.

    A word's vector is the same in every list and at every place in it. A larger dictionary therefore keeps the vectors
    of a smaller one.
    """
    if dim < 1:
        raise InputError(f"the dimension of random vectors must be at least 1, not {dim}")
    distinct = list(dict.fromkeys(words))
    matrix = np.empty((len(distinct), dim), dtype=np.float32)
    for row, word in enumerate(distinct):
        matrix[row] = random_unit_vector(word, dim, seed)
    return WordVectors(distinct, matrix)
