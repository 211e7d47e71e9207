"""How alike two tag sequences are: the complement of their normalised Levenshtein distance."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

Pattern = Sequence[str]


COLUMNS = 512
"""sequences compared side by side: their rows stay in the processor's cache"""


def distances(first: Sequence[Pattern], second: Sequence[Pattern]) -> np.ndarray:
    """Levenshtein distances (n, m): insertions, deletions and substitutions, each at cost 1.

    Row i of the dynamic programme, D[i, j], is filled for many sequences at once. For E[i, j] = D[i, j] − j the
    recurrence reads E[i, j] = min(E[i−1, j−1] − [same symbol], E[i−1, j] + 1, E[i, j−1]): the last is a running
    minimum over j.
    """
    symbols = {symbol: i for i, symbol in enumerate(dict.fromkeys(s for p in (*first, *second) for s in p))}
    numbered = [[symbols[symbol] for symbol in pattern] for pattern in first]
    result = np.empty((len(first), len(second)), dtype=np.int64)
    for start in range(0, len(second), COLUMNS):
        part = second[start : start + COLUMNS]
        lengths = np.array([len(pattern) for pattern in part], dtype=np.int64)
        longest = int(lengths.max())
        # The smallest integers that hold every D − j: the smaller, the more of them are compared at a time.
        kind = np.min_scalar_type(-max(longest, *map(len, first)) - 3)
        same = np.zeros((len(symbols), longest, len(part)), dtype=kind)  # one sequence a column
        for column, pattern in enumerate(part):
            same[[symbols[symbol] for symbol in pattern], range(len(pattern)), column] = 1
        for row, numbers in enumerate(numbered):
            before = np.zeros((longest + 1, len(part)), dtype=kind)
            for i, number in enumerate(numbers, start=1):
                now = np.empty_like(before)
                now[0] = i
                np.minimum(before[:-1] - same[number], before[1:] + kind.type(1), out=now[1:])
                before = np.minimum.accumulate(now, axis=0, out=now)
            result[row, start : start + COLUMNS] = before[lengths, np.arange(len(part))] + lengths
    return result


class Similarities:
    """l(u, v) = 1 − Levenshtein(u, v) / max(|u|, |v|) between the tag sequences of two lists of sentences.

    Equal sequences are compared once; rows are computed when they are asked for.
    """

    def __init__(self, first: Sequence[Pattern], second: Sequence[Pattern]):
        self.first = [tuple(pattern) for pattern in first]
        distinct = {tuple(pattern): None for pattern in second}
        self.distinct = list(distinct)
        number = {pattern: i for i, pattern in enumerate(self.distinct)}
        self.columns = np.array([number[tuple(pattern)] for pattern in second], dtype=np.int64)

    def rows(self, start: int, stop: int) -> np.ndarray:
        """(stop − start, M) for the sentences from ``start`` to ``stop``; 1 between two empty sequences."""
        asked = list(dict.fromkeys(self.first[start:stop]))
        number = {pattern: i for i, pattern in enumerate(asked)}
        lengths = (np.array([len(pattern) for pattern in side]) for side in (asked, self.distinct))
        longer = np.maximum.outer(*lengths)
        similar = 1 - distances(asked, self.distinct) / np.maximum(longer, 1)
        chosen = np.array([number[pattern] for pattern in self.first[start:stop]])
        return similar[chosen[:, None], self.columns[None, :]]
