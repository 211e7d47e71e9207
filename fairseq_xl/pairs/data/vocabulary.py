"""The words that a model of pairs knows, and their vectors."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Any

import numpy as np
from fairseq.data import Dictionary

from fairseq_xl.pairs.data.settings import Settings
from fairseq_xl.pairs.data.tokenized import TokenizedPair
from fairseq_xl.vectors.random import random_vectors
from fairseq_xl.vectors.table import WordVectors, read_vectors


@dataclass(frozen=True)
class Vocabulary:
    """The dictionary, its vectors (V, d), and what the manifest says of these."""

    dictionary: Dictionary
    table: np.ndarray
    vectors: dict[str, Any] | None


def make_vocabulary(
    splits: dict[str, list[TokenizedPair]], also: list[TokenizedPair], settings: Settings
) -> Vocabulary:
    """Training's words of some frequency, and all words that have a vector."""
    counts = Counter(word for row in splits["train"] for side in row.sides for word in side.split())
    judged = [*splits["valid"], *splits["test"], *also]
    others = Counter(word for row in judged for side in row.sides for word in side.split())
    found, vectors = None, None
    if settings.vectors is not None:
        found = read_vectors(settings.vectors, list(dict.fromkeys([*counts, *others])))
        vectors = {"file": settings.vectors.name, "found": len(found)}
    dictionary = Dictionary()
    for word, count in counts.most_common():
        if count >= settings.min_count or (found is not None and word in found.index):
            dictionary.add_symbol(word, count)
    for word in others:
        if found is not None and word in found.index and word not in counts:
            dictionary.add_symbol(word, 0)
    table = make_table(dictionary, found, settings.dim, settings.seed)
    return Vocabulary(dictionary, table, vectors)


def make_table(dictionary: Dictionary, found: WordVectors | None, dim: int, seed: int) -> np.ndarray:
    """The table (V, d) of a dictionary, from the vectors that were found or random ones of ``dim``.

    A word without a vector gets a random direction of the mean norm of the others: two sentences that share it can
    still be seen to share it.
    """
    table = random_vectors(dictionary.symbols, found.dim if found else dim, seed).matrix
    if found and len(found):
        table *= np.linalg.norm(found.matrix, axis=1).mean()
        table[[dictionary.index(word) for word in found.words]] = found.matrix
    return table
