"""Baselines without a network, by name: a few similarities of the two sentences, and a learner that weighs them.

    character_ngram  overlap of character n-grams and lengths, gradient boosting: the baseline of Hadgu 2018
    tfidf            cosines of TF-IDF vectors, of words and of character n-grams
    bm25             BM25 of each sentence as the query for the other, averaged
    vectors          cosines of averaged word vectors: plain, and weighted by IDF and as in SIF
    st               cosine of a sentence-transformers model's vectors
    shallow          lengths, shared words, numbers and marks, gradient boosting: what a corpus gives away
    constant         the training pairs' share of matches: what any classifier must beat

Others are weighed by logistic regression. A baseline is a function of its name in :mod:`.features`, and a line of
``BASELINES``.
"""

BASELINES = {
    "character_ngram": "boosting",
    "tfidf": "logistic",
    "bm25": "logistic",
    "vectors": "logistic",
    "st": "logistic",
    "shallow": "boosting",
    "constant": "share",
}
"""Name -> its usual learner, of :mod:`.learners`."""
