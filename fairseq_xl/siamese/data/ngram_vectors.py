"""Where n-gram embeddings begin: at word vectors of both languages in one space.

Trigrams of two languages are evidence of each other only where they are the same. The vectors of two languages' words
can be rotated into one space. An n-gram is then near to those of the other language whose words mean the same.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np
from fairseq.data import Dictionary

from fairseq_xl.io.errors import InputError
from fairseq_xl.siamese.data.morphemes import Segmenter
from fairseq_xl.siamese.data.word_for_word import WORD
from fairseq_xl.text.ngrams import ngrams
from fairseq_xl.vectors.table import WordVectors, read_vectors


class NgramVectors:
    """The mean vector of the words that hold each n-gram, each word as often as training text has it.

    Args:
        dictionary: of the n-grams, V entries.
        orders: lengths of the n-grams.
    """

    def __init__(self, dictionary: Dictionary, orders: Sequence[int]):
        self.dictionary, self.orders = dictionary, orders
        self.sums = np.zeros((len(dictionary), 0), dtype=np.float64)
        self.counts = np.zeros(len(dictionary), dtype=np.int64)

    def add(self, texts: Iterable[str], path: Path, segmenter: Segmenter | None, shuffled: int | None = None) -> None:
        """Add the words of one language's training text.

        Args:
            texts: normalised sentences.
            path: that language's word vectors. A word without one is looked up in lower case.
            segmenter: what the text's n-grams are taken after, if anything.
            shuffled: None, or the seed by which the vectors are dealt out among the words.

        Raises:
            InputError: no such file, a damaged one, one of another dimension than the first, or one with no word of
                the texts.
        """
        counted = Counter(word for text in texts for word in WORD.findall(text))
        table = read_vectors(path, {form for word in counted for form in (word, word.lower())}, progress=False)
        if not len(table):
            raise InputError(f"{path} has no word of the training text: name that language's word vectors")
        if self.sums.shape[1] not in (0, table.dim):
            raise InputError(f"{path} has vectors of {table.dim} numbers, and the first file of {self.sums.shape[1]}")
        if shuffled is not None:
            dealt = np.random.default_rng(shuffled).permutation(len(table))
            table = WordVectors(table.words, table.matrix[dealt])
        if not self.sums.shape[1]:
            self.sums = np.zeros((len(self.dictionary), table.dim))
        for word, count in counted.items():
            row = table.index.get(word, table.index.get(word.lower()))
            if row is None:
                continue
            form = segmenter(word) if segmenter else word
            units = {unit for order in self.orders for unit in ngrams(form, (order,))}  # also the last short ones
            known = {index for unit in units if (index := self.dictionary.index(unit)) != self.dictionary.unk()}
            places = list(known)
            self.sums[places] += count * table.matrix[row].astype(np.float64)
            self.counts[places] += count

    def rows(self) -> np.ndarray:
        """(V, d), float32: the means, centred and of unit variance over all; zeros where no word has the n-gram."""
        known = self.counts > 0
        rows = np.zeros(self.sums.shape, dtype=np.float32)
        means = self.sums[known] / self.counts[known, None]
        means -= means.mean(0)
        rows[known] = means / max(means.std(), np.finfo(np.float32).tiny)
        return rows
