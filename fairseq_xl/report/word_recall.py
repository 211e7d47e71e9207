"""How many words of the references a translation has, by how often the training text has them."""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
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


def _tokenizer(name: str) -> Callable[[str], str]:
    from sacrebleu.metrics.bleu import BLEU

    tokens: Callable[[str], str] = BLEU(tokenize=name, force=True).tokenizer
    return tokens


def word_counts(training: Iterable[str], tokenize: str = "13a") -> Counter[str]:
    """How often the sentences of a training text's target side, written as the references are, have each word."""
    tokens = _tokenizer(tokenize)
    return Counter(word for sentence in training for word in tokens(sentence).split())


def word_recall(
    known: Counter[str],
    references: Sequence[str],
    translations: Sequence[str],
    tokenize: str = "13a",
    bounds: Sequence[int] = BOUNDS,
) -> list[Recall]:
    """The recall of words of the references, one for each of ``bounds``.

    A word counts as often as BLEU counts it, no more often than both the reference and the translation have it.

    Args:
        known: of :func:`word_counts`, by the same tokeniser.
        tokenize: one of ``TOKENIZERS``.
        bounds: rising counts in the training text. A group ends where the next one begins.
    """
    tokens = _tokenizer(tokenize)
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
