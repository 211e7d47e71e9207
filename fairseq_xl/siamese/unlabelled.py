"""Correlated text without labels (section 3.3): a classifier of the rich language labels its side of sentence pairs,
and each pair's poor side takes the class over.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice

from fairseq_xl.siamese.classifier import Prediction

AT_ONCE = 2048


@dataclass
class Labelled:
    """How many pairs were labelled, by class, and how many were left out as unsure."""

    classes: Counter[str] = field(default_factory=Counter)
    unsure: int = 0

    def __str__(self) -> str:
        found = ", ".join(f"{name} {count}" for name, count in sorted(self.classes.items()))
        return f"{sum(self.classes.values())} pairs labelled ({found or 'none'}), {self.unsure} left out as unsure"


def label_pairs(
    pairs: Iterable[tuple[str, str]],
    predict: Callable[[Sequence[str]], Sequence[Prediction]],
    least: float,
    count: Labelled,
) -> Iterator[tuple[str, str, str]]:
    """Class, rich and poor sentence of each pair whose class has a share of the score of ``least`` or more.

    Args:
        pairs: rich and poor sentences.
        predict: classes of rich sentences.
        least: share of the score, as :class:`Prediction` has it.
        count: filled on the way.
    """
    stream = iter(pairs)
    while batch := list(islice(stream, AT_ONCE)):
        for (rich, poor), found in zip(batch, predict([rich for rich, _ in batch]), strict=True):
            if found.scores[found.label] < least:
                count.unsure += 1
                continue
            count.classes[found.label] += 1
            yield found.label, rich, poor
