"""Correlated text without labels (section 3.3): classes for sentence pairs from their high-resource side.

A classifier of the high-resource language labels its side of each pair, and the low-resource side takes the class over.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice

from fairseq_xl.siamese.prediction.classifier import Prediction

AT_ONCE = 2048


@dataclass
class Labelled:
    """How many pairs were labelled, by class, and how many were left out.

    Attributes:
        classes: pairs of each class.
        unsure: whose class has too small a share of the score.
        unseen: whose high-resource sentence has no n-gram of the training text, so that its class would be a guess.
        blank: of which a side is empty.
    """

    classes: Counter[str] = field(default_factory=Counter)
    unsure: int = 0
    unseen: int = 0
    blank: int = 0

    def __str__(self) -> str:
        found = ", ".join(f"{name} {count}" for name, count in sorted(self.classes.items()))
        said = f"{sum(self.classes.values())} pairs labelled ({found or 'none'}), {self.unsure} left out as unsure"
        if self.unseen:
            said += f", {self.unseen} as guesses, for they have no n-gram that the training text has"
        return said + (f", {self.blank} as empty" if self.blank else "")


def label_pairs(
    pairs: Iterable[tuple[str, str]],
    predict: Callable[[Sequence[str]], Sequence[Prediction]],
    least: float,
    count: Labelled,
) -> Iterator[tuple[str, str, str]]:
    """Class, high- and low-resource sentence of each pair whose class has a share of the score of ``least`` or more.

    Args:
        pairs: high- and low-resource sentences, neither blank.
        predict: classes of high-resource sentences.
        least: share of the score, as :class:`Prediction` has it.
        count: filled on the way.
    """
    stream = iter(pairs)
    while batch := list(islice(stream, AT_ONCE)):
        for (high, low), found in zip(batch, predict([high for high, _ in batch]), strict=True):
            if found.known == 0:
                count.unseen += 1
            elif found.scores[found.label] < least:
                count.unsure += 1
            else:
                count.classes[found.label] += 1
                yield found.label, high, low
