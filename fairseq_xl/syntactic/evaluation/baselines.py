"""Sentence embeddings that need no training and no download: what a syntactic encoder must beat.

Each is a function from the texts of all languages to one matrix for each. Counts over a collection (document
frequencies) therefore cover all of it, and languages share one space.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from scipy import sparse

from fairseq_xl.io.packages import require
from fairseq_xl.syntactic.data.filters import words
from fairseq_xl.syntactic.evaluation.cosines import Matrix
from fairseq_xl.syntactic.tagging.tagged_text import TaggedText
from fairseq_xl.text.conllu import UPOS

LONGEST = 200
"""words; longer sentences count as this long"""


def length(texts: Sequence[TaggedText]) -> list[Matrix]:
    """The number of words of the raw text, as the filters count them. The tags are not counted, because they are part
    of the answer. The vector is (cos θ, sin θ) with θ a quarter turn times length / LONGEST. The nearest sentence by
    cosine is therefore the nearest in length."""
    matrices = []
    for text in texts:
        angle = np.array([min(words(line), LONGEST) for line in text.texts]) * (math.pi / 2 / LONGEST)
        matrices.append(np.stack([np.cos(angle), np.sin(angle)], axis=1))
    return matrices


def tags(texts: Sequence[TaggedText]) -> list[Matrix]:
    """How often each of the 17 tags occurs: it is told the very tags that make the groups, but not their order."""
    return [np.array([[tags.count(tag) for tag in UPOS] for tags in text.upos], dtype=np.float64) for text in texts]


def characters(texts: Sequence[TaggedText], shortest: int = 2, longest: int = 4) -> list[Matrix]:
    """TF-IDF over n-grams of characters, the sentence's ends included; sparse.

    Weights are (1 + log tf) · (1 + log((1 + N)/(1 + df))), N sentences in all languages together.

    Raises:
        InputError: scikit-learn is not installed.
    """
    weigh = require("sklearn.feature_extraction.text", "syntactic", "encoder characters").TfidfVectorizer
    weights = weigh(analyzer="char", ngram_range=(shortest, longest), sublinear_tf=True, norm=None)
    lines = [[f" {line} " for line in text.texts] for text in texts]
    weights.fit(line for part in lines for line in part)
    return [sparse.csr_array(weights.transform(part)) for part in lines]
