"""Two systems' translations side by side, those that differ most first, with what differs marked."""

from __future__ import annotations

import difflib
from collections.abc import Sequence
from dataclasses import dataclass

from sacrebleu.metrics.chrf import CHRF


@dataclass(frozen=True)
class Pair:
    """One sentence by two systems.

    Attributes:
        number: of the sentence, from 1.
        scores: sentence chrF2 of the two.
        words: of the two, each with whether the other system has it not.
    """

    number: int
    source: str
    reference: str
    scores: tuple[float, float]
    words: tuple[list[tuple[str, bool]], list[tuple[str, bool]]]


def marked(words: Sequence[str], other: Sequence[str]) -> list[tuple[str, bool]]:
    """Words, each with whether a longest common subsequence with ``other`` leaves it out."""
    kept: set[int] = set()
    for block in difflib.SequenceMatcher(a=words, b=other, autojunk=False).get_matching_blocks():
        kept.update(range(block.a, block.a + block.size))
    return [(word, i not in kept) for i, word in enumerate(words)]


def side_by_side(
    sources: Sequence[str], references: Sequence[str], first: Sequence[str], second: Sequence[str], count: int = 50
) -> list[Pair]:
    """The ``count`` sentences whose sentence chrF2 differs most between two systems.

    Words of each translation are marked where it leaves the other one. chrF2, since sentence BLEU is zero or
    arbitrary for short sentences.

    Raises:
        ValueError: unequal numbers of sentences.
    """
    if not len(sources) == len(references) == len(first) == len(second):
        raise ValueError("sources, references and translations have unequal numbers of sentences")
    chrf = CHRF()

    def score(sentence: str, reference: str) -> float:
        return chrf.sentence_score(sentence, [reference]).score

    pairs = []
    for number, (source, reference, one, two) in enumerate(
        zip(sources, references, first, second, strict=True), start=1
    ):
        if one == two:
            continue
        words = (marked(one.split(), two.split()), marked(two.split(), one.split()))
        pairs.append(Pair(number, source, reference, (score(one, reference), score(two, reference)), words))
    return sorted(pairs, key=lambda pair: -abs(pair.scores[0] - pair.scores[1]))[:count]
