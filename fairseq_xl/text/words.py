"""The words of a line, and when two lines are alike."""

from __future__ import annotations

import math
import unicodedata
from collections import Counter
from collections.abc import Mapping

import regex

from fairseq_xl.text.masking import masked

_WORD = regex.compile(r"[\w\p{M}]+")


def words(text: str) -> list[str]:
    """Runs of letters, marks, digits and underscores, without case."""
    return _WORD.findall(unicodedata.normalize("NFKC", text).casefold())


def punctuation(text: str) -> Counter[str]:
    """How often each mark of punctuation and each symbol is in the text."""
    return Counter(c for c in text if unicodedata.category(c)[0] in "PS")


def key(text: str) -> str:
    """What is equal in lines that are the same: their words, e-mail addresses and telephone numbers masked.

    Masked, so that lines that masking makes equal are the same before it, too. A line without words is itself.
    """
    return " ".join(words(masked(text)[0])) or " ".join(text.split())


def cosine(left: Mapping[str, float], right: Mapping[str, float]) -> float:
    """Of two sparse vectors; 0 where one is empty."""
    if len(left) > len(right):
        left, right = right, left
    product = sum(value * right[word] for word, value in left.items() if word in right)
    norms = math.sqrt(sum(value * value for value in left.values()) * sum(value * value for value in right.values()))
    return product / norms if norms else 0.0


def frequency_cosine(left: str, right: str) -> float:
    """Cosine of the word counts of two lines of one language (the paper's section 2.1.4)."""
    return min(1.0, cosine(Counter(words(left)), Counter(words(right))))
