"""What each baseline compares two sentences by: a function of its name, from what it learns to features of pairs.

Every feature but those of shallow is the same with the sentences exchanged.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from scipy import sparse
from sklearn.feature_extraction.text import CountVectorizer, HashingVectorizer, TfidfVectorizer

from fairseq_xl.encode.averaged import means
from fairseq_xl.encode.pretrained import load_sentence_transformer
from fairseq_xl.io.errors import InputError
from fairseq_xl.pairs.data.directory import Row
from fairseq_xl.pairs.evaluation.similarity import cosines
from fairseq_xl.text.surface import features as surface
from fairseq_xl.vectors.table import WordVectors

Features = Callable[[Sequence[Row]], np.ndarray]
"""(N, F) of N pairs."""

ORDERS = (1, 2, 3, 4, 5)
"""of the character n-grams"""

K1, B, LEAST_IDF = 1.5, 0.75, 0.25
"""of Okapi's BM25 (Robertson & Walker 1994); a word in over half of the sentences gets that share of the mean IDF"""

RARE = 1e-3
"""SIF's a, in the weight a/(a + share of the word), as in Arora et al. 2017"""


@dataclass(frozen=True)
class Training:
    """What a baseline learns from.

    Attributes:
        rows: labelled pairs.
        vectors: of the words of the training pairs and of those to be judged, for ``vectors``.
        model: name or folder of a sentence-transformers model, for ``st``.
    """

    rows: Sequence[Row]
    vectors: WordVectors | None = None
    model: str | None = None

    @property
    def sentences(self) -> list[str]:
        """Each sentence once."""
        return list(dict.fromkeys(text for row in self.rows for text in (row.left, row.right)))


def character_ngram(data: Training) -> Features:
    """For each order: cosine of counts, and shared n-grams over all and over the shorter's; then the lengths."""

    def of_order(left: list[str], right: list[str], order: int) -> list[np.ndarray]:
        counter = HashingVectorizer(
            analyzer="char", ngram_range=(order, order), lowercase=False, norm=None, alternate_sign=False
        )
        counts = [sparse.csr_array(counter.transform([f" {text} " for text in side])) for side in (left, right)]
        a, b = (side > 0 for side in counts)
        shared, fewer, either = a.multiply(b).sum(1), np.minimum(a.sum(1), b.sum(1)), (a + b).sum(1)
        return [cosines(*counts), shared / np.maximum(either, 1), shared / np.maximum(fewer, 1)]

    def features(rows: Sequence[Row]) -> np.ndarray:
        left, right = [row.left for row in rows], [row.right for row in rows]
        columns = [column for order in ORDERS for column in of_order(left, right, order)]
        for measure in (len, lambda text: len(text.split())):
            lengths = np.array([[measure(a), measure(b)] for a, b in zip(left, right, strict=True)])
            columns += [lengths.min(1), lengths.max(1)]
        return np.stack(columns, axis=1)

    return features


def tfidf(data: Training) -> Features:
    """Weights are counted over the training pairs' sentences."""
    kinds = [
        TfidfVectorizer(analyzer=str.split, sublinear_tf=True),
        TfidfVectorizer(analyzer="char_wb", ngram_range=(2, 5), sublinear_tf=True, lowercase=False),
    ]
    for kind in kinds:
        kind.fit(data.sentences)

    def features(rows: Sequence[Row]) -> np.ndarray:
        left, right = [row.left for row in rows], [row.right for row in rows]
        return np.stack([cosines(kind.transform(left), kind.transform(right)) for kind in kinds], axis=1)

    return features


def bm25(data: Training) -> Features:
    """The mean of both directions, as it is and as a share of what each sentence scores with itself.

    The rarity of words and the average length are the training sentences'.
    """
    counter = CountVectorizer(analyzer=str.split)
    seen = sparse.csr_array(counter.fit_transform(data.sentences))
    size, average, documents = seen.shape[0], seen.sum() / seen.shape[0], (seen > 0).sum(0)
    idf = np.log(size - documents + 0.5) - np.log(documents + 0.5)
    idf[idf < 0] = LEAST_IDF * idf.mean()

    def read(texts: Sequence[str]) -> tuple[sparse.coo_array, sparse.coo_array]:
        """(N, V) counts of the words of queries, and their weights in documents."""
        counts = sparse.coo_array(counter.transform(texts)).astype(float)
        norms = K1 * (1 - B + B * np.array([len(text.split()) for text in texts]) / average)
        row, column = counts.coords
        weights = idf[column] * counts.data * (K1 + 1) / (counts.data + norms[row])
        return counts, sparse.coo_array((weights, counts.coords), counts.shape)

    def features(rows: Sequence[Row]) -> np.ndarray:
        (left, in_left), (right, in_right) = (read([getattr(row, side) for row in rows]) for side in ("left", "right"))
        crossed, own = (
            sum(query.multiply(document).sum(1) for query, document in pairs)
            for pairs in (((left, in_right), (right, in_left)), ((left, in_left), (right, in_right)))
        )
        return np.stack([crossed / 2, np.divide(crossed, own, out=np.zeros(len(rows)), where=own > 0)], axis=1)

    return features


def vectors(data: Training) -> Features:
    """Means of the words' vectors: plain, weighted by IDF, and SIF (Arora, Liang & Ma 2017).

    IDF, the shares of words and the direction that SIF takes out are the training sentences'. Words without a vector
    are left out; a sentence without any has cosine 0 with every other.
    """
    if data.vectors is None:
        raise InputError("baseline vectors needs a file of word vectors: name it with --vectors")
    table = data.vectors
    sentences = [text.split() for text in data.sentences]
    documents = Counter(word for words in sentences for word in set(words))
    tokens = Counter(word for words in sentences for word in words)
    total = tokens.total()
    if not any(word in table.index for word in tokens):
        raise InputError("the file of --vectors has no vector for any training word: is it of that language?")
    weights: list[Callable[[str], float]] = [
        lambda word: 1.0,
        lambda word: np.log((1 + len(sentences)) / (1 + documents[word])) + 1,
        lambda word: RARE / (RARE + tokens[word] / total),
    ]

    weighted = [table.matrix * np.array([[weight(word)] for word in table.words]) for weight in weights]
    common = np.linalg.svd(means(sentences, weighted[-1], table.index), full_matrices=False)[2][0]

    def features(rows: Sequence[Row]) -> np.ndarray:
        columns = []
        for i, matrix in enumerate(weighted):
            sides = [
                means([getattr(row, side).split() for row in rows], matrix, table.index) for side in ("left", "right")
            ]
            if i == len(weights) - 1:
                sides = [side - np.outer(side @ common, common) for side in sides]
            columns.append(cosines(*sides))
        return np.stack(columns, axis=1)

    return features


def st(data: Training) -> Features:
    """Of the sentences as they were written."""
    if data.model is None:
        raise InputError("baseline st needs a sentence-transformers model: name it with --model")
    encoder = load_sentence_transformer(data.model)

    def features(rows: Sequence[Row]) -> np.ndarray:
        texts = list(dict.fromkeys(text for row in rows for text in (row.left_text, row.right_text)))
        place = {text: i for i, text in enumerate(texts)}
        found = np.asarray(encoder.encode(texts), dtype=np.float64)
        left, right = ([place[getattr(row, side)] for row in rows] for side in ("left_text", "right_text"))
        return cosines(found[left], found[right])[:, None]

    return features


def shallow(data: Training) -> Features:
    """Of the sentences as they were written."""
    return lambda rows: np.array([surface(row.left_text, row.right_text) for row in rows])


def constant(data: Training) -> Features:
    return lambda rows: np.zeros((len(rows), 1))
