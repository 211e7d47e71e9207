"""Words that a dictionary lacks, read as the words of it that their vectors are nearest to."""

from __future__ import annotations

from collections.abc import Collection

from fairseq_xl.vectors.neighbours import nearest
from fairseq_xl.vectors.table import WordVectors


def substitutes(
    unknown: Collection[str], known: Collection[str], vectors: WordVectors, min_cosine: float
) -> dict[str, str]:
    """For each unknown word the known word nearest by cosine, where it is near enough.

    Words without a letter, and those without a vector, have none: a number or a mark says nothing of another.

    Args:
        unknown: words to replace.
        known: what they may become.
        vectors: of both; fastText's subwords give vectors to words that it never saw.
        min_cosine: less than this is not near enough.
    """
    targets = vectors.select([word for word in known if _has_letter(word)])
    queries = vectors.select([word for word in unknown if _has_letter(word)])
    if not len(targets) or not len(queries):
        return {}
    rows, cosines = nearest(targets.matrix, queries.matrix, 1)
    return {
        word: targets.words[row]
        for word, row, cosine in zip(queries.words, rows[:, 0], cosines[:, 0], strict=True)
        if cosine >= min_cosine
    }


def _has_letter(word: str) -> bool:
    return any(map(str.isalpha, word))
