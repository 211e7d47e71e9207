"""Sentence embeddings that need no training and no download: what a syntactic encoder must beat.

Each is a function from the texts of all languages to one matrix for each, so that what is counted over a collection
(document frequencies) is counted over all of it and languages share one space.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np
from scipy import sparse

from fairseq_xl.io.errors import InputError
from fairseq_xl.syntactic.evaluation.cosines import Matrix
from fairseq_xl.syntactic.tagging.tagged import TaggedText
from fairseq_xl.text.conllu import UPOS
from fairseq_xl.vectors.table import read_vectors

LONGEST = 200
"""words; longer sentences count as this long"""

# Chinese and Japanese do not separate words: each character stands for itself.
WORD = re.compile(r"[\u3040-\u30ff\u3400-\u9fff]|[^\W\u3040-\u30ff\u3400-\u9fff]+|[^\w\s]")


def length(texts: Sequence[TaggedText]) -> list[Matrix]:
    """The number of words (of tags) alone: (cos θ, sin θ) with θ a quarter turn times length / LONGEST, so that the
    nearest sentence by cosine is the one nearest in length."""
    matrices = []
    for text in texts:
        angle = np.array([min(len(tags), LONGEST) for tags in text.upos]) * (math.pi / 2 / LONGEST)
        matrices.append(np.stack([np.cos(angle), np.sin(angle)], axis=1))
    return matrices


def bag_of_tags(texts: Sequence[TaggedText]) -> list[Matrix]:
    """How often each of the 17 tags occurs: it is told the very tags that make the groups, but not their order."""
    return [np.array([[tags.count(tag) for tag in UPOS] for tags in text.upos], dtype=np.float64) for text in texts]


def characters(texts: Sequence[TaggedText], shortest: int = 2, longest: int = 4) -> list[Matrix]:
    """TF-IDF over n-grams of characters, the sentence's ends included; sparse.

    Weights are (1 + log tf) · (1 + log((1 + N)/(1 + df))), N sentences in all languages together.
    """
    column: dict[str, int] = {}
    frequency: Counter[int] = Counter()
    rows: list[list[dict[int, int]]] = []
    for text in texts:
        rows.append([])
        for line in text.texts:
            padded = f" {line.lower()} "
            starts = ((n, i) for n in range(shortest, longest + 1) for i in range(len(padded) - n + 1))
            counts = Counter(column.setdefault(padded[i : i + n], len(column)) for n, i in starts)
            frequency.update(counts.keys())
            rows[-1].append(counts)
    total = sum(map(len, texts))
    rarity = 1 + np.log((1 + total) / (1 + np.array([frequency[i] for i in range(len(column))], dtype=np.float64)))

    def matrix(counted: list[dict[int, int]]) -> sparse.csr_array:
        ends = np.cumsum([0, *map(len, counted)])
        columns = np.fromiter((i for counts in counted for i in counts), dtype=np.int64, count=ends[-1])
        times = np.fromiter((n for counts in counted for n in counts.values()), dtype=np.float64, count=ends[-1])
        weights = (1 + np.log(times)) * rarity[columns]
        return sparse.csr_array((weights, columns, ends), shape=(len(counted), len(column)))

    return [matrix(counted) for counted in rows]


def words_of(line: str) -> list[str]:
    """Runs of letters and digits, each Chinese character and each other sign alone."""
    return WORD.findall(line)


def mean_vectors(texts: Sequence[TaggedText], path: str) -> list[Matrix]:
    """The mean of the words' vectors of a file, fastText's or any that ``fairseq-xl vectors`` reads.

    ``{lang}`` in the path stands for each language's code; without it, one file serves all languages, which puts
    them into one space. Words without a vector are left out; a sentence without any is a row of zeros.

    Raises:
        InputError: a file that cannot be read; none of a text's words has a vector.
    """
    matrices: list[Matrix] = []
    for text in texts:
        sentences = [words_of(line) for line in text.texts]
        file = Path(path.replace("{lang}", text.language))
        vectors = read_vectors(file, words=sorted(_distinct(sentences)), progress=False)
        if not len(vectors):
            raise InputError(f"{file} has no vector for any word of {text.source}: is it of that language?")
        rows = np.zeros((len(sentences), vectors.dim))
        for row, sentence in zip(rows, sentences, strict=True):
            known = [vectors.index[word] for word in sentence if word in vectors.index]
            if known:
                row[:] = vectors.matrix[known].mean(0)
        matrices.append(rows)
    return matrices


def _distinct(sentences: Iterable[Iterable[str]]) -> set[str]:
    return {word for sentence in sentences for word in sentence}
