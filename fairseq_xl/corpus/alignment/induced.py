"""An aligner without a translation: its dictionary is learned from the pages that it aligns."""

from __future__ import annotations

from collections.abc import Sequence

from fairseq_xl.corpus.alignment.aligner import align
from fairseq_xl.corpus.alignment.dictionary import learn
from fairseq_xl.corpus.documents.document import Bead
from fairseq_xl.io.errors import InputError
from fairseq_xl.text.words import words

ROUNDS = 3
"""Rounds of aligning, and of learning words from the alignment."""


def align_pages(
    pages: Sequence[tuple[Sequence[str], Sequence[str]]], ratio: float, parallel: Sequence[tuple[str, str]] = ()
) -> list[list[Bead]]:
    """The beads of each page, with a dictionary that is learned from all pages as far as they are aligned.

    Pages are first aligned by lengths. Words are learned from the pairs (the best translation of IBM model 1). The
    second sides are translated with them, word by word, and aligned again, ROUNDS times. A word without a translation
    stays as it is.

    Args:
        pages: the lines of both sides of each.
        ratio: of all second sides' characters to those of the first.
        parallel: more pairs of sentences to learn from.

    Raises:
        InputError: no line has a counterpart.
    """
    found = [align(first, second, None, ratio) for first, second in pages]
    for _ in range(ROUNDS):
        pairs = [
            (" ".join(first[i] for i in left), " ".join(second[i] for i in right))
            for (first, second), beads in zip(pages, found, strict=True)
            for left, right in beads
            if left and right
        ]
        best = dictionary([*pairs, *parallel])
        found = [
            align(first, second, [" ".join(best.get(word, word) for word in words(line)) for line in second], ratio)
            for first, second in pages
        ]
    return found


def dictionary(pairs: Sequence[tuple[str, str]]) -> dict[str, str]:
    """The best translation of each of the second language's words into the first, learned from pairs of sentences."""
    if not pairs:
        raise InputError("no line has a counterpart to learn words from")
    lines = ((" ".join(words(left)), " ".join(words(right))) for left, right in pairs)
    return {word: other for word, (other, _) in learn(lines, 0.001, 0.1, progress=False).items()}
