"""Sentence embeddings without a network: the average of the vectors of a sentence's words."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from fairseq_xl.io.errors import InputError
from fairseq_xl.vectors.table import read_vectors

# Chinese and Japanese do not separate words: each character stands for itself.
_WORD = re.compile(r"[\u3040-\u30ff\u3400-\u9fff]|[^\W\u3040-\u30ff\u3400-\u9fff]+|[^\w\s]")


def words_of(line: str) -> list[str]:
    """Runs of letters and digits, each Chinese character and each other sign alone."""
    return _WORD.findall(line)


def means(sentences: Iterable[Sequence[str]], matrix: np.ndarray, index: Mapping[str, int]) -> np.ndarray:
    """The mean of the rows of each sentence's words.

    Args:
        sentences: N sentences, cut into words.
        matrix: (V, d) a vector, weighted or not, for each word.
        index: the row of each word.

    Returns:
        (N, d), of the matrix's type. Words without a vector are left out; a sentence without any has zeros.
    """
    rows = []
    for sentence in sentences:
        known = [index[word] for word in sentence if word in index]
        rows.append(matrix[known].mean(0) if known else np.zeros(matrix.shape[1], matrix.dtype))
    return np.stack(rows) if rows else np.zeros((0, matrix.shape[1]), matrix.dtype)


@dataclass(frozen=True)
class Averaging:
    """How words become a sentence's vector. The default is the plain mean.

    With ``smoothing`` it is SIF: algorithm 1 of Arora, Liang & Ma 2017, "A Simple but Tough-to-Beat Baseline for
    Sentence Embeddings". It takes the mean of a/(a + p(w))·v_w and subtracts the first principal components from it.
    The share p(w) is that of a word among the words of all sentences that are encoded together.

    Attributes:
        words: cuts a sentence into words.
        smoothing: a, such as 1e-3; None for no weights.
        components: how many principal components to take away.
    """

    words: Callable[[str], list[str]] = words_of
    smoothing: float | None = None
    components: int = 0

    def encode(self, sentences: Sequence[str], path: Path) -> np.ndarray:
        """Embeddings (N, d) float32 by the vectors of a file that :func:`~fairseq_xl.vectors.table.read_vectors` reads.

        Raises:
            InputError: a file that cannot be read; none of the words has a vector.
        """
        tokens = [self.words(sentence) for sentence in sentences]
        counts = Counter(word for sentence in tokens for word in sentence)
        table = read_vectors(path, sorted(counts), progress=False)
        if not table.words:
            raise InputError(f"{path} has no vector for any word of the sentences: is it of their language and case?")
        matrix = table.matrix
        if self.smoothing is not None:
            share = np.array([counts[word] / counts.total() for word in table.words])
            matrix = matrix * (self.smoothing / (self.smoothing + share))[:, None].astype(np.float32)
        found = means(tokens, matrix, table.index)
        if self.components:
            # The d × d matrix of second moments is small, however many sentences there are.
            _, directions = np.linalg.eigh(found.T.astype(np.float64) @ found)
            common = directions[:, -self.components :].astype(np.float32)
            filled = found.any(1)
            found[filled] -= found[filled] @ common @ common.T
        return found


MEAN = Averaging()
"""The plain mean."""
