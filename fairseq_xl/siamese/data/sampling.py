"""Which sentences are paired, epoch by epoch (Choudhary et al. 2018, sections 3.1 and 4.3).

Each sentence of one side is paired with some of the other side with its class, and with as many of other classes.
The pairs are a function of the labels, the seed and the epoch. Workers, processes and resumed runs therefore draw the
same pairs.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from fairseq_xl.io.errors import InputError


@dataclass(frozen=True)
class Pairs:
    """Sentence numbers (P,) of both sides and whether they share a class (P,) bool."""

    left: np.ndarray
    right: np.ndarray
    same: np.ndarray

    def __len__(self) -> int:
        return len(self.left)


def by_class(labels: np.ndarray, classes: int) -> list[np.ndarray]:
    """The sentence numbers of each class."""
    return [np.flatnonzero(labels == c) for c in range(classes)]


def balanced(labels: np.ndarray, classes: int, random: np.random.Generator) -> np.ndarray:
    """As many sentence numbers as there are sentences, equally many of each class (but for a remainder).

    A class with more sentences than its share gives a random part of them. A class with fewer gives all of them equally
    often, and a random part of them once more.
    """
    members = [m for m in by_class(labels, classes) if len(m)]
    share, more = divmod(len(labels), len(members))
    extra = random.permutation(len(members)) < more
    drawn = [_repeated(m, share + int(e), random) for m, e in zip(members, extra, strict=True)]
    return np.concatenate(drawn)


def _repeated(members: np.ndarray, count: int, random: np.random.Generator) -> np.ndarray:
    rounds = -(-count // len(members))
    return np.concatenate([random.permutation(members) for _ in range(rounds)])[:count]


def sample_pairs(
    left: np.ndarray,
    right: np.ndarray,
    classes: int,
    per_sentence: int,
    random: np.random.Generator,
    balance: bool = True,
    one_corpus: bool = False,
) -> Pairs:
    """Pairs of left sentences with right ones: ``per_sentence`` of the same class and as many of others.

    For a pair of different classes, first the other class is drawn uniformly, then a sentence of that class. Frequent
    classes therefore do not crowd out rare ones.

    Args:
        left: (N,) classes of the left side's sentences.
        right: (M,) classes of the right side's.
        classes: the number of classes.
        per_sentence: pairs of each kind for one left sentence.
        balance: draw left sentences so that classes are equally frequent, instead of each once.
        one_corpus: left and right are the same sentences, and none is paired with itself.

    Raises:
        InputError: A class of the left side is missing on the right. There is only one class. A class has one
            sentence, which would have to be paired with itself.
    """
    members = by_class(right, classes)
    present = [c for c in range(classes) if len(members[c])]
    if len(present) < 2:
        raise InputError("pairs need two classes at least, but the training text has one only")
    for c in np.unique(left):
        if len(members[c]) < 1 + one_corpus:
            raise InputError(
                f"class {c} has {len(members[c])} training sentences to be paired with: leave the class out, or "
                "give more text"
            )
    chosen = balanced(left, classes, random) if balance else random.permutation(len(left))
    chosen = np.repeat(chosen, per_sentence)
    own = left[chosen]

    def draw(wanted: np.ndarray) -> np.ndarray:
        sizes = np.array([len(m) for m in members])[wanted]
        starts = np.cumsum([0, *map(len, members)])[wanted]
        return np.concatenate(members)[starts + random.integers(0, sizes)]

    positive = draw(own)
    while one_corpus and (clash := positive == chosen).any():
        positive[clash] = draw(own[clash])
    # Draw another class than the sentence's own, uniformly. Skip over the own one where it is among those present.
    place = np.full(classes, len(present))
    place[present] = np.arange(len(present))
    others = len(present) - (place[own] < len(present))
    step = random.integers(0, others)
    negative = draw(np.array(present)[step + (step >= place[own])])
    both = np.tile(chosen, 2)
    same = np.arange(2 * len(chosen)) < len(chosen)
    return Pairs(both, np.concatenate([positive, negative]), same)


def sample_references(labels: np.ndarray, classes: int, per_class: int, random: np.random.Generator) -> np.ndarray:
    """``per_class`` sentence numbers of each class without repetition, or all of a class that has fewer.

    Raises:
        InputError: a class has none.
    """
    members = by_class(labels, classes)
    for c, found in enumerate(members):
        if not len(found):
            raise InputError(f"class {c} has no sentence among the references: give text with every class")
    return np.concatenate([random.permutation(m)[:per_class] for m in members])
