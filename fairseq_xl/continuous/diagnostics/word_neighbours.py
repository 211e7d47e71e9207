"""What stands near predictions and their synthetic negatives (Bhat, Kumar & Tsvetkov 2019, section 5).

The paper finds that prediction and negative "share a common" nearest word, or that the negative's nearest word shows
how the prediction is wrong. Its example has the target `means`, the prediction `meant` and the negative `held`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor

from fairseq_xl.continuous.diagnostics.accuracy import Positions
from fairseq_xl.continuous.diagnostics.nearest import SYNTHETIC, neighbours
from fairseq_xl.continuous.models.targets import TargetTable
from fairseq_xl.losses import nearest


class SharedNeighbours:
    """How often a synthetic negative of a wrong prediction has the same nearest word as the prediction."""

    def __init__(self) -> None:
        self.wrong = 0
        self.shared = dict.fromkeys(SYNTHETIC, 0)

    def update(self, positions: Positions, targets: TargetTable) -> None:
        wrong = ~positions.correct
        self.wrong += int(wrong.sum())
        for name, make in SYNTHETIC.items():
            negative = make(positions.pred[wrong], positions.target[wrong])
            _, words = nearest(negative, targets)
            same = (words[:, 0] == positions.words[wrong, 0]) & negative.any(-1)
            self.shared[name] += int(same.sum())

    def result(self) -> dict[str, float | None]:
        """The share of wrong predictions, for each kind of negative; None where all are right."""
        return {name: shared / self.wrong if self.wrong else None for name, shared in self.shared.items()}


class WordNeighbours:
    """Neighbour lists for chosen target words.

    A word's many predictions are represented by the mean of their directions û. There is one mean over all of them and
    one over the wrong ones, which the paper quotes. The negatives are those of the mean.

    Args:
        rows: of the chosen words in the table.
        targets: the table.
    """

    def __init__(self, rows: Sequence[int], targets: TargetTable):
        self.rows = list(rows)
        size, dim = targets.table.shape
        self.sums = torch.zeros(len(self.rows), 2, dim, dtype=torch.float64)
        self.counts = torch.zeros(len(self.rows), 2, dtype=torch.long)
        self.predicted = torch.zeros(len(self.rows), size, dtype=torch.long)

    def update(self, positions: Positions) -> None:
        unit = F.normalize(positions.pred, dim=-1).double()
        for place, row in enumerate(self.rows):
            here = positions.index == row
            for part, chosen in enumerate((here, here & ~positions.correct)):
                self.sums[place, part] += unit[chosen].sum(0).cpu()
                self.counts[place, part] += int(chosen.sum())
            words = positions.words[here, 0].cpu()
            self.predicted[place] += torch.bincount(words, minlength=self.predicted.shape[1])

    def result(self, targets: TargetTable, symbols: Sequence[str], k: int) -> list[dict[str, Any]]:
        """One entry for each word, with ``word``, ``positions`` where it is the target, and how many are ``wrong``.
        ``predicted`` has the k words that are most often nearest there, with counts. ``mean`` and ``mean_when_wrong``
        are None where there is no such position. Otherwise they have the k words nearest to ``prediction``,
        ``projection`` and ``difference`` with their cosines. The list of a negative that does not exist is empty."""
        return [self._result(place, targets, symbols, k) for place in range(len(self.rows))]

    def _result(self, place: int, targets: TargetTable, symbols: Sequence[str], k: int) -> dict[str, Any]:
        row = self.rows[place]
        target = targets.table[row : row + 1]

        def near(vector: Tensor) -> list[list[Any]]:
            return [list(pair) for pair in neighbours(vector, targets, symbols, k)[0]]

        means: list[dict[str, Any] | None] = []
        for part in range(2):
            count = int(self.counts[place, part])
            mean = (self.sums[place, part] / max(count, 1)).to(target).unsqueeze(0)
            made = {name: near(make(mean, target)) for name, make in SYNTHETIC.items()}
            means.append({"prediction": near(mean), **made} if count else None)
        most = self.predicted[place].topk(k)
        pairs = zip(most.indices.tolist(), most.values.tolist(), strict=True)
        return {
            "word": symbols[row],
            "positions": int(self.counts[place, 0]),
            "wrong": int(self.counts[place, 1]),
            "predicted": [[symbols[word], n] for word, n in pairs if n],
            "mean": means[0],
            "mean_when_wrong": means[1],
        }
