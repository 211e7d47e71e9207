"""Settings of paraphrases from translations, which a command's help shows without the packages that make them."""

from __future__ import annotations

from dataclasses import dataclass

from fairseq_xl.io.settings import GREATEST_SEED, option


@dataclass(kw_only=True)
class ParaphraseSettings:
    """How paraphrases and their negatives are chosen."""

    most: int = option(
        "leave out a translation that stands beside more different sentences than this. It is vague, such as 'Yes'",
        10,
        low=2,
    )
    low: float = option(
        "the first sentences of a negative and of the pair that it is taken from have a cosine above this",
        0.2,
        low=-1,
        high=1,
    )
    high: float = option("that cosine is below this", 0.95, low=-1, high=1)
    near: float = option(
        "sentences with this word-frequency cosine or more are nearly the same and no negatives", 0.9, low=0.01, high=1
    )
    length: float = option(
        "a negative is about as long as the paraphrase is, within so many standard deviations of what paraphrases "
        "differ by; 0 allows any length",
        1.0,
        low=0,
    )
    overlap: float = option(
        "a negative shares about as many words and marks with the sentence as its paraphrase does: the shares differ "
        "by at most this. Lower it for a lower shallow baseline. Fewer pairs are left then",
        0.4,
        low=0,
        high=1,
    )
    folds: int = option("folds of what is not for testing. Sentences that paraphrases link stay together", 10, low=2)
    test: float = option("share of the paraphrases for testing; 0: none", 0.15, low=0, high=0.99)
    seed: int = option("of the folds and of the draw", 1, low=0, high=GREATEST_SEED)
