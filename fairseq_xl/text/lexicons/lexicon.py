"""The likeliest translations of words, from counts of links in parallel text."""

from __future__ import annotations

import numpy as np
from scipy import sparse

from fairseq_xl.io.lexicons import Lexicon
from fairseq_xl.text.lexicons.bitext import Bitext


def make_lexicon(
    bitext: Bitext,
    counts: sparse.csr_matrix,
    totals: np.ndarray,
    min_probability: float = 0.0,
    min_count: int = 1,
    best: int = 1,
) -> Lexicon:
    """The most probable translations of each word.

    Args:
        counts: (F, E) how often two words are linked.
        totals: (F,) what a translation's probability is its count's share of: a word's links, and
            its occurrences without any where they are known.
        min_probability: leave out translations below.
        min_count: leave out source words with fewer occurrences.
        best: at most so many translations of a word.
    """
    source, target = bitext.source, bitext.target
    frequent = source.counts >= min_count
    lexicon = {}
    for row in sorted(range(len(source.words)), key=source.words.__getitem__):
        if not frequent[row] or not totals[row]:
            continue
        part = slice(counts.indptr[row], counts.indptr[row + 1])
        shares = counts.data[part] / totals[row]
        entries = [
            (target.words[word], float(share))
            for word, share in zip(counts.indices[part], shares, strict=True)
            if share > 0 and share >= min_probability
        ]
        entries.sort(key=lambda entry: (-entry[1], entry[0]))
        if entries:
            lexicon[source.words[row]] = entries[:best]
    return lexicon
