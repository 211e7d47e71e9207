"""The words of a line, e-mail addresses and telephone numbers masked in it, and when two lines are alike."""

from __future__ import annotations

import math
import re
import unicodedata
from collections import Counter
from collections.abc import Mapping

import regex

_WORD = regex.compile(r"[\w\p{M}]+")
EMAIL, PHONE = "<email>", "<phone>"

_EMAIL = re.compile(r"[\w.+-]+@[\w-]+(?:\.[\w-]+)+")
# No point among the separators: 192.168.100.200 and 2.4.10.2016 are other things.
_PHONE = re.compile(r"(?<![\w.,@/-])(?:\+|\(|\b)\d(?:[ ()/-]{0,3}\d){7,14}(?![\w@/-]|\.\d)")
_DATE = re.compile(r"\d{4}-\d\d-\d\d|\d\d?[-/]\d\d?[-/]\d{4}")
_DIVIDED = re.compile(r"\d[ ()/-]+\d")


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


def masked(text: str) -> tuple[str, int]:
    """The text with ``<email>`` and ``<phone>`` in place of what looks like one, and how many there were.

    A telephone number is a guess: 8 to 15 digits that begin with + or 00, or are divided by blanks, hyphens or
    brackets, and are no date. Names and postal addresses are not found.
    """
    text, emails = _EMAIL.subn(EMAIL, text)
    phones = 0

    def replacement(match: re.Match[str]) -> str:
        nonlocal phones
        number = match[0]
        if _DATE.fullmatch(number) or not (number.startswith(("+", "00")) or _DIVIDED.search(number)):
            return number
        phones += 1
        return PHONE

    return _PHONE.sub(replacement, text), emails + phones


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
