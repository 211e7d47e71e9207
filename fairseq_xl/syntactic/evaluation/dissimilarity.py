"""Functional dissimilarity: do cosines fall as tag sequences differ? (Liu, De Andrade & Osama 2019, section 4.2)

The score is ‖L − D̂‖_F / n over all n² pairs of sentences, the diagonal included (Yin & Shen 2018). Here l_ij is the
complement of the normalised Levenshtein distance of the tag sequences. D̂ holds the embeddings' d(e_i, e_j), min-max
normalised over the matrix. The score is the root mean square of the differences, and lower is better.

The paper can be read in two ways about d. ``similarity``: d is the cosine, so that both matrices are similarities
(taking both as distances gives the same number, for 1 − minmax(cos) = minmax(1 − cos)). ``literal``: d is the cosine
*distance* of its section 4.1, compared with the *similarity* L. This rewards embeddings that are far apart where the
tags are alike. The first is what the paper's argument needs ("similar sequences should be embedded close to each
other").
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import torch
from torch import Tensor

from fairseq_xl.syntactic.evaluation.cosines import TIE, Directions, Matrix, blocks
from fairseq_xl.syntactic.evaluation.similarity import Pattern, similarities

READINGS = ("similarity", "literal")


def dissimilarities(
    encoders: Sequence[Matrix], patterns: Sequence[Pattern], device: torch.device | str = "cpu"
) -> tuple[list[dict[str, float] | None], float]:
    """The scores of several embeddings of the same n sentences, and what a constant would score.

    Memory is bounded: one block of rows of each matrix is held at a time. There are two passes, one of them for the
    extremes of the cosines.

    Args:
        encoders: (n, d) embeddings of each encoder.
        patterns: the n tag sequences.

    Returns:
        for each encoder the dissimilarity by reading, and ``correlation``. This is Pearson's r of l_ij and the cosines
        over i ≠ j, which no scaling of the cosines changes. It is None where all cosines are equal, which min-max
        normalisation cannot take. The second value is the dissimilarity of the best constant matrix D̂, which is the
        standard deviation of L. A lower score needs knowledge of the tags.
    """
    n = len(patterns)
    directions = [Directions(vectors, device) for vectors in encoders]
    ranges = [_range(rows) for rows in directions]
    sums = np.zeros((len(directions), len(READINGS)))
    pairs = [_Pairs() for _ in directions]
    every = _Pairs()
    usable = [high - low > TIE for low, high in ranges]
    for start, stop in blocks(n, n, "functional dissimilarity"):
        wanted = torch.from_numpy(similarities(patterns[start:stop], patterns)).to(device)
        every.update(wanted, wanted)
        apart = torch.ones_like(wanted, dtype=torch.bool)
        apart[torch.arange(stop - start), torch.arange(start, stop)] = False
        for place in np.flatnonzero(usable):
            rows, (low, high) = directions[place], ranges[place]
            scaled = (rows.cosines(start, stop, rows) - low) / (high - low)
            sums[place] += [float((wanted - d).square().sum()) for d in (scaled, 1 - scaled)]
            pairs[place].update(wanted[apart], scaled[apart])
    scores = [
        {
            **{reading: math.sqrt(total) / n for reading, total in zip(READINGS, row, strict=True)},
            "correlation": found.correlation(),
        }
        if varied
        else None
        for row, found, varied in zip(sums, pairs, usable, strict=True)
    ]
    return scores, every.deviation()


class _Pairs:
    """Moments of pairs (x, y), summed over blocks; both lie in [0, 1], so float64 sums lose nothing that matters."""

    def __init__(self) -> None:
        self.sums = np.zeros(6)

    def update(self, x: Tensor, y: Tensor) -> None:
        terms = (torch.ones_like(x), x, y, x * x, y * y, x * y)
        self.sums += [float(term.sum()) for term in terms]

    def deviation(self) -> float:
        """Standard deviation of x."""
        n, x, _, xx, _, _ = self.sums
        return math.sqrt(max(xx / n - (x / n) ** 2, 0.0))

    def correlation(self) -> float:
        """Pearson's r, 0 where one does not vary."""
        n, x, y, xx, yy, xy = self.sums
        spread = (n * xx - x * x) * (n * yy - y * y)
        return float((n * xy - x * y) / math.sqrt(spread)) if spread > 0 else 0.0


def _range(rows: Directions) -> tuple[float, float]:
    """The smallest and the largest cosine of all pairs."""
    low, high = math.inf, -math.inf
    for start, stop in blocks(len(rows), len(rows)):
        cosines = rows.cosines(start, stop, rows)
        low, high = min(low, float(cosines.min())), max(high, float(cosines.max()))
    return low, high
