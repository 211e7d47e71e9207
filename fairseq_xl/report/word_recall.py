"""How many words of the references a translation has, by how often the training text has them."""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import NamedTuple

BOUNDS = (0, 1, 2, 5, 10, 100)
"""The least count in the training text of each group of words; the first is of words that it never has."""
TOKENIZERS = ("13a", "intl", "zh", "char", "none")
"""Those of sacreBLEU that need no other package."""


class Recall(NamedTuple):
    """Of the words of one group."""

    words: int
    """tokens of the references"""
    right: int
    """of these, tokens that the translation of the same sentence has, too"""


def word_recall(
    training: Iterable[str],
    references: Sequence[str],
    translations: Sequence[str],
    tokenize: str = "13a",
    bounds: Sequence[int] = BOUNDS,
) -> list[Recall]:
    """The recall of words of the references, one for each of ``bounds``.

    A word counts as often as BLEU counts it, no more often than both the reference and the translation have it.

    Args:
        training: sentences of the target side, as the references are written.
        tokenize: one of ``TOKENIZERS``, for all three texts.
        bounds: rising counts in the training text. A group ends where the next one begins.
    """
    from sacrebleu.metrics.bleu import BLEU

    tokens = BLEU(tokenize=tokenize, force=True).tokenizer
    known = Counter(word for sentence in training for word in tokens(sentence).split())
    words, right = Counter[int](), Counter[int]()
    for reference, translation in zip(references, translations, strict=True):
        said = Counter(tokens(translation).split())
        for word, times in Counter(tokens(reference).split()).items():
            group = bisect_right(bounds, known[word]) - 1
            words[group] += times
            right[group] += min(times, said[word])
    return [Recall(words[group], right[group]) for group in range(len(bounds))]


def group_names(bounds: Sequence[int] = BOUNDS) -> list[str]:
    """Such as ``0``, ``2 to 4`` and ``100 and more``."""
    names = []
    for low, end in zip(bounds, [*bounds[1:], None], strict=True):
        if end is None:
            names.append(f"{low} and more")
        else:
            names.append(str(low) if end == low + 1 else f"{low} to {end - 1}")
    return names
