"""Precision and recall of aligners on gold alignments.

Strict: a bead is right when the gold alignment has the same. Lax: when a gold bead shares a line of both sides with
it (precision), and a gold bead is found when a bead shares a line of both sides with it (recall). Lines without a
counterpart, beads with an empty side, are left out on both sides, as is usual (Thompson & Koehn 2019).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from fairseq_xl.corpus.alignment.aligner import align
from fairseq_xl.corpus.alignment.beads import check_beads, parse_beads
from fairseq_xl.corpus.documents.document import Bead
from fairseq_xl.corpus.documents.words import words
from fairseq_xl.io.errors import InputError
from fairseq_xl.io.lines import read_lines
from fairseq_xl.text.lexicons.bitext import Bitext, make_side
from fairseq_xl.text.lexicons.ibm1 import candidates, expected_links
from fairseq_xl.text.lexicons.lexicon import make_lexicon

ROUNDS = 3
"""of aligning and learning words from the alignment"""


@dataclass(frozen=True)
class Quality:
    """Precision, recall and their harmonic mean, from 0 to 1."""

    precision: float
    recall: float
    f1: float


def quality(found: Sequence[Bead], gold: Sequence[Bead]) -> dict[str, Quality]:
    """``strict`` and ``lax``."""
    found, gold = ([bead for bead in beads if all(bead)] for beads in (found, gold))
    known = {_links(bead) for bead in gold}, {_links(bead) for bead in found}
    lines = [frozenset().union(*map(_links, beads)) for beads in (gold, found)]
    result = {}
    for name, right in (
        ("strict", lambda bead, other: _links(bead) in known[other]),
        ("lax", lambda bead, other: not _links(bead).isdisjoint(lines[other])),
    ):
        precision = _share([right(bead, 0) for bead in found])
        recall = _share([right(bead, 1) for bead in gold])
        both = precision + recall
        result[name] = Quality(precision, recall, 2 * precision * recall / both if both else 0.0)
    return result


def _links(bead: Bead) -> frozenset[tuple[int, int]]:
    """Beads are equal when these are; they share a line of both sides when these meet."""
    return frozenset((left, right) for left in bead[0] for right in bead[1])


def _share(right: Sequence[bool]) -> float:
    return sum(right) / len(right) if right else 0.0


def read_gold(path: Path, sizes: tuple[int, int]) -> list[Bead]:
    """Gold beads of texts with so many lines. Raises: InputError: no such file, or one of other texts."""
    beads = parse_beads(read_lines(path), str(path))
    check_beads(beads, sizes, str(path))
    return beads


def induced_translation(
    first: Sequence[str], second: Sequence[str], ratio: float, parallel: Sequence[tuple[str, str]] = ()
) -> list[str]:
    """The second text word by word, by a dictionary learned from both texts as far as they are aligned.

    They are aligned by lengths, words are learned from the pairs (IBM model 1, best translation), the second text is
    translated with them and aligned again, ROUNDS times. A word without a translation stays as it is.

    Args:
        parallel: more pairs of sentences to learn from.
    """
    translation: list[str] | None = None
    for _ in range(ROUNDS):
        beads = align(first, second, translation, ratio)
        pairs = [
            (" ".join(first[i] for i in left), " ".join(second[i] for i in right))
            for left, right in beads
            if left and right
        ]
        best = dictionary([*pairs, *parallel])
        translation = [" ".join(best.get(word, word) for word in words(line)) for line in second]
    assert translation is not None
    return translation


def dictionary(pairs: Sequence[tuple[str, str]]) -> dict[str, str]:
    """The best translation of each of the second language's words into the first, learned from pairs of sentences."""
    if not pairs:
        raise InputError("no line has a counterpart to learn words from")
    bitext = Bitext(*(make_side(" ".join(words(pair[side])) for pair in pairs) for side in (1, 0)))
    allowed = candidates(bitext, min_dice=0.001, progress=False)
    counts = expected_links(bitext, allowed, iterations=5, progress=False)
    lexicon = make_lexicon(bitext, counts, np.asarray(counts.sum(1)).ravel(), min_probability=0.1)
    return {word: entries[0][0] for word, entries in lexicon.items()}
