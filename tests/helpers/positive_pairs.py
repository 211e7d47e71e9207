"""Pairs that mean the same, on as few pages as a test needs."""

from __future__ import annotations

from fairseq_xl.corpus.pairs.positives import Positives
from fairseq_xl.text.words import key


def positives_of(first: list[str], second: list[str], home: list[int]) -> Positives:
    pages, seconds = [{page} for page in home], [{key(text)} for text in second]
    return Positives(first, second, home, pages, seconds)
