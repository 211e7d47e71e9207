"""What pages are about: latent Dirichlet allocation (Blei et al. 2003), the number of topics chosen by coherence."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from fairseq_xl.corpus.documents.words import words
from fairseq_xl.io.errors import InputError
from fairseq_xl.io.packages import require

MODELS = ("tomotopy", "gensim")
COHERENCES = ("c_v", "u_mass")
TOP = 20
"""words of a topic that its coherence is measured by"""


@dataclass(frozen=True)
class Topics:
    """A model of K topics.

    Attributes:
        words: the K topics' words, most probable first.
        shares: (M, K) of each topic in each page.
        coherence: mean over the topics; higher is better.
    """

    words: list[list[str]]
    shares: np.ndarray
    coherence: float


def bags(pages: Sequence[str], min_pages: int, max_share: float, min_letters: int) -> list[list[str]]:
    """The words of each page that can tell topics apart.

    Args:
        pages: their text.
        min_pages: leave out words of fewer pages.
        max_share: leave out words of more than this share of the pages: the, and what a menu repeats.
        min_letters: leave out shorter words, and those that are digits.
    """
    found = [[word for word in words(page) if len(word) >= min_letters and not word.isdigit()] for page in pages]
    spread = Counter(word for page in found for word in set(page))
    most = max_share * len(pages)
    return [[word for word in page if min_pages <= spread[word] <= most] for page in found]


def fit(bags: Sequence[Sequence[str]], count: int, model: str, passes: int, seed: int, coherence: str) -> Topics:
    """Fit ``count`` topics to pages that all have words.

    Args:
        bags: see :func:`bags`.
        model: ``gensim``, online variational Bayes with the paper's settings (section 2.2: update_every 1,
            chunksize 100, alpha auto, per_word_topics); ``tomotopy``, collapsed Gibbs sampling, which is faster.
        passes: over the pages (the paper: 300); tomotopy: rounds of sampling.
        seed: the same gives the same topics (the paper's random_state: 100).
        coherence: one of COHERENCES (Röder et al. 2015; the paper does not say which).

    Raises:
        InputError: a package that is missing.
    """
    found, shares = (_gensim if model == "gensim" else _tomotopy)(bags, count, passes, seed)
    return Topics(found, shares, _coherence(found, bags, coherence))


def _gensim(bags: Sequence[Sequence[str]], count: int, passes: int, seed: int) -> tuple[list[list[str]], np.ndarray]:
    models = require("gensim.models", "corpus")
    dictionary = require("gensim.corpora", "corpus").Dictionary(bags)
    counts = [dictionary.doc2bow(bag) for bag in bags]
    lda = models.LdaModel(
        corpus=counts,
        id2word=dictionary,
        num_topics=count,
        random_state=seed,
        update_every=1,
        chunksize=100,
        passes=passes,
        alpha="auto",
        per_word_topics=True,
    )
    gamma, _ = lda.inference(counts)
    shares = gamma / gamma.sum(1, keepdims=True)
    return [[word for word, _ in lda.show_topic(k, TOP)] for k in range(count)], shares


def _tomotopy(bags: Sequence[Sequence[str]], count: int, passes: int, seed: int) -> tuple[list[list[str]], np.ndarray]:
    lda = require("tomotopy", "corpus").LDAModel(k=count, seed=seed)
    for bag in bags:
        lda.add_doc(bag)
    lda.train(passes, workers=1)  # several would make it depend on their timing
    shares = np.array([document.get_topic_dist() for document in lda.docs])
    return [[word for word, _ in lda.get_topic_words(k, TOP)] for k in range(count)], shares


def _coherence(topics: list[list[str]], bags: Sequence[Sequence[str]], kind: str) -> float:
    dictionary = require("gensim.corpora", "corpus").Dictionary(bags)
    # gensim's own default is all processors, for which it starts processes anew each time.
    model = require("gensim.models", "corpus").CoherenceModel(
        topics=topics,
        texts=bags,
        corpus=[dictionary.doc2bow(bag) for bag in bags],
        dictionary=dictionary,
        coherence=kind,
        processes=1,
    )
    return float(model.get_coherence())


def best(fitted: dict[int, Topics]) -> int:
    """The number of topics with the greatest coherence to four digits, the smallest of equals.

    Raises:
        InputError: no number has one, as of topics whose words never meet.
    """
    known = {count: round(found.coherence, 4) for count, found in fitted.items() if np.isfinite(found.coherence)}
    if not known:
        raise InputError("no number of topics has a coherence: there is too little text; give more pages")
    return min(known, key=lambda count: (-known[count], count))
