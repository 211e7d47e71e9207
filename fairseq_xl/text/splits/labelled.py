"""Stratified splits of labelled text that share no sentence."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

import numpy as np

from fairseq_xl.io.errors import InputError

T = TypeVar("T")


@dataclass
class Cleaned:
    """Texts that stand once, with their classes, and how many were left out and why."""

    texts: list[str] = field(default_factory=list)
    labels: list[int] = field(default_factory=list)
    left_out: dict[str, int] = field(default_factory=lambda: {"empty": 0, "duplicate": 0, "contradictory": 0})


def unique(examples: Sequence[tuple[str, int]], known: frozenset[str] | set[str] = frozenset()) -> Cleaned:
    """Each text once, in the order of its first place; none that is empty, known, or has two classes."""
    classes: dict[str, set[int]] = defaultdict(set)
    for text, label in examples:
        classes[text].add(label)
    out = Cleaned()
    taken = set(known)
    for text, label in examples:
        if not text:
            out.left_out["empty"] += 1
        elif len(classes[text]) > 1:
            out.left_out["contradictory"] += 1
        elif text in taken:
            out.left_out["duplicate"] += 1
        else:
            taken.add(text)
            out.texts.append(text)
            out.labels.append(label)
    return out


def stratified(labels: Sequence[Hashable], shares: Sequence[float], seed: int) -> list[list[int]]:
    """Numbers of the examples in each split, so that every class has its share of every split.

    Args:
        labels: the class of each example.
        shares: of the splits, together at most 1; what is left makes the last one.
        seed: of the draw.

    Returns:
        len(shares) + 1 lists, each in the examples' order.

    Raises:
        InputError: a class with too few examples for one in each split.
    """
    random = np.random.default_rng(seed)
    members: dict[Hashable, list[int]] = defaultdict(list)
    for number, label in enumerate(labels):
        members[label].append(number)
    splits: list[list[int]] = [[] for _ in range(len(shares) + 1)]
    for label, numbers in members.items():
        order = random.permutation(numbers).tolist()
        ends = np.rint(np.cumsum(shares) * len(order)).astype(int).tolist()
        pieces = [order[a:b] for a, b in zip([0, *ends], [*ends, len(order)], strict=True)]
        for share, piece in zip([*shares, 1 - sum(shares)], pieces, strict=True):
            if share > 0 and not piece:
                raise InputError(
                    f"class {label} has {len(order)} texts, too few for one in each split: give more, or files "
                    "of their own for the splits"
                )
        for split, piece in zip(splits, pieces, strict=True):
            split.extend(piece)
    return [sorted(split) for split in splits]


def nested(labels: Sequence[int] | np.ndarray, size: int, seed: int) -> list[int]:
    """``size`` examples, or all where there are fewer, with the classes' proportions.

    A smaller size is a part of a larger one with the same seed.
    """
    random = np.random.default_rng(seed)
    labels = np.asarray(labels)
    # Each example's place within its class, as a share of the class: the smallest shares come first.
    place = np.empty(len(labels))
    for label in np.unique(labels):
        found = np.flatnonzero(labels == label)
        place[found] = (random.permutation(len(found)) + 0.5) / len(found)
    return sorted(np.argsort(place, kind="stable")[:size].tolist())
