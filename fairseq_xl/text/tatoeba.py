"""A list of sentence pairs, as Tatoeba's are published, cut into training, development and test text.

One sentence has many translations, and those have others: a test sentence whose like is in the training text would
measure memory. So pairs are joined into clusters that share a sentence on either side, and a cluster goes into one
split as a whole; of a held-out cluster one pair is kept.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from scipy.sparse import coo_matrix
from scipy.sparse.csgraph import connected_components

from fairseq_xl.io.errors import InputError
from fairseq_xl.io.tables import stream_rows

Pair = tuple[str, str]


@dataclass(frozen=True)
class Splits:
    """Pairs of each split, in the order of the file; ``dropped`` pairs repeat a held-out cluster's sentence."""

    train: list[Pair]
    valid: list[Pair]
    test: list[Pair]
    dropped: int

    def __str__(self) -> str:
        return (
            f"{len(self.train)} training pairs, {len(self.valid)} development, {len(self.test)} test; {self.dropped} "
            "left out, other translations of held-out sentences"
        )


def read_pairs(path: Path, columns: tuple[int, int]) -> list[Pair]:
    """The different pairs of a tab-separated file.

    Args:
        columns: of the source and of the target, from 1.

    Raises:
        InputError: no such file, a line with fewer columns or an empty sentence, or no pairs at all.
    """
    pairs: dict[Pair, None] = {}
    for row in stream_rows(path, list(map(str, columns)), even=False):
        source, target = (" ".join(cell.split()) for cell in row.chosen)
        if not source or not target:
            raise InputError(f"{path}, line {row.number}: an empty sentence; remove the line")
        pairs[source, target] = None
    if not pairs:
        raise InputError(f"{path} is empty: give a file of sentence pairs")
    return list(pairs)


def split(pairs: Sequence[Pair], valid: int, test: int, seed: int) -> Splits:
    """Cut into splits; the same pairs, numbers and seed give the same ones.

    Raises:
        InputError: fewer clusters than held-out pairs are wanted, or none left to train on.
    """
    cluster = _clusters(pairs)
    members: dict[int, list[int]] = {}
    for place, name in enumerate(cluster):
        members.setdefault(name, []).append(place)
    if len(members) <= valid + test:
        raise InputError(
            f"{len(pairs)} pairs make {len(members)} clusters without a sentence in common, too few to hold out "
            f"{valid} + {test}: ask for fewer"
        )
    draw = random.Random(seed)
    chosen = draw.sample(sorted(members), valid + test)
    held_out = [[draw.choice(members[name]) for name in names] for names in (chosen[:valid], chosen[valid:])]
    names = set(chosen)
    train = [pair for pair, name in zip(pairs, cluster, strict=True) if name not in names]
    dev_pairs, test_pairs = ([pairs[place] for place in sorted(places)] for places in held_out)
    return Splits(train, dev_pairs, test_pairs, len(pairs) - len(train) - valid - test)


def _clusters(pairs: Sequence[Pair]) -> list[int]:
    """The cluster of each pair."""
    sides = []
    for side in (0, 1):
        numbers: dict[str, int] = {}
        sides.append([numbers.setdefault(pair[side], len(numbers)) for pair in pairs])
    left, right = (np.array(numbers) for numbers in sides)
    size = left.max() + 1 + right.max() + 1
    graph = coo_matrix((np.ones(len(pairs), dtype=np.int8), (left, left.max() + 1 + right)), (size, size))
    _, found = connected_components(graph, directed=False)
    return found[left].tolist()
