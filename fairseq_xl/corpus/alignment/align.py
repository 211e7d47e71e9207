"""The paper's check: do lines at the same place of two pages mean the same?

"Multilingual Corpus Creation for Multilingual Semantic Similarity Task", section 2.1.4.
"""

from __future__ import annotations

from collections.abc import Sequence

from fairseq_xl.corpus.documents.document import Bead, Document
from fairseq_xl.corpus.documents.words import frequency_cosine


def misaligned(similarities: Sequence[float], distance: float) -> list[int]:
    """Places whose cosine distance, 1 less the similarity, is greater."""
    return [place for place, value in enumerate(similarities) if 1 - value > distance]


def without_isolated(places: Sequence[int]) -> list[int]:
    """Places, rising, that have another one right before or after them.

    One line alone is thought to be put down to its translation.
    """
    known = set(places)
    return [place for place in places if place - 1 in known or place + 1 in known]


def similarities(document: Document, beads: Sequence[Bead]) -> list[float]:
    """Word-frequency cosine of each bead with two sides: the first language's lines and the others' translation.

    Args:
        document: with its translation.
    """
    first, second = document.lines[0], document.translation
    assert second is not None
    return [
        frequency_cosine(" ".join(first[line] for line in left), " ".join(second[line] for line in right))
        for left, right in beads
    ]


def same_place(document: Document) -> list[Bead]:
    """Line k beside line k, as far as the shorter side goes."""
    return [([place], [place]) for place in range(min(map(len, document.lines)))]


def runs(places: Sequence[int]) -> list[range]:
    """Consecutive places, rising, as ranges."""
    found: list[range] = []
    for place in places:
        if found and found[-1].stop == place:
            found[-1] = range(found[-1].start, place + 1)
        else:
            found.append(range(place, place + 1))
    return found
