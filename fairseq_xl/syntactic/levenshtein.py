"""How alike two tag sequences are: the complement of their normalised Levenshtein distance."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

Pattern = Sequence[str]


def distances(first: Sequence[Pattern], second: Sequence[Pattern]) -> np.ndarray:
    """Levenshtein distances (n, m): insertions, deletions and substitutions, each at cost 1.

    For one sequence of ``first`` the rows of the m dynamic programmes are filled side by side. Within a row,
    D[j] = min(C[j], D[j − 1] + 1), where C is what substitution and deletion allow, is a running minimum of C[j] − j.
    """
    symbols = {symbol: i for i, symbol in enumerate(dict.fromkeys(s for p in (*first, *second) for s in p))}
    lengths = np.array([len(pattern) for pattern in second], dtype=np.int64)
    longest = int(lengths.max(initial=0))
    texts = np.full((longest, len(second)), -1, dtype=np.int32)  # one sequence a column
    for column, pattern in enumerate(second):
        texts[: len(pattern), column] = [symbols[symbol] for symbol in pattern]
    steps = np.arange(longest + 1, dtype=np.int32)[:, None]
    result = np.empty((len(first), len(second)), dtype=np.int64)
    for row, pattern in enumerate(first):
        before = np.broadcast_to(steps, (longest + 1, len(second)))
        for i, symbol in enumerate(pattern, start=1):
            now = np.empty_like(before)
            now[0] = i
            np.minimum(before[:-1] + (texts != symbols[symbol]), before[1:] + 1, out=now[1:])
            before = np.minimum.accumulate(now - steps, axis=0) + steps
        result[row] = before[lengths, np.arange(len(second))]
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
