"""How near predictions come to their targets: Table 2 of Bhat, Kumar & Tsvetkov 2019, and the angles behind it.

e is a raw prediction, û = e/‖e‖, κ = ‖e‖, u the target's unit vector. Measurements are summed up batch by batch, so
that memory does not grow with the data. ``result()`` is plain data, ready for JSON.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor

from fairseq_xl.continuous.diagnostics.distribution import Distribution
from fairseq_xl.continuous.models.targets import TargetTable
from fairseq_xl.losses import nearest

ACCURACIES = (1, 2, 5, 10)


@dataclass(frozen=True)
class Positions:
    """N predictions, what they should have been, and the words nearest to them."""

    pred: Tensor
    """(N, d) raw, float32"""
    index: Tensor
    """(N,) rows of the table: the targets"""
    target: Tensor
    """(N, d) unit vectors of the targets"""
    cosines: Tensor
    """(N, k) to the nearest words, falling"""
    words: Tensor
    """(N, k) the nearest words, nearest first"""

    @property
    def correct(self) -> Tensor:
        """(N,) bool: the nearest word is the target."""
        return self.words[:, 0] == self.index

    @property
    def cosine(self) -> Tensor:
        """(N,) to the target; 0 where e = 0."""
        return F.cosine_similarity(self.pred, self.target, dim=-1)


def look_up(pred: Tensor, index: Tensor, targets: TargetTable, k: int) -> Positions:
    """Compare raw predictions (N, d) for targets (N,) with the whole table, exactly and in bounded memory.

    Raises:
        ValueError: k is larger than the number of words.
    """
    words = len(targets.candidates())
    if k > words:
        raise ValueError(f"there are no {k} nearest words among {words}")
    pred = pred.float()
    cosines, found = nearest(pred, targets, k)
    return Positions(pred, index, targets.table[index], cosines, found)


class ErrorMargins:
    """The numbers of Table 2: similarities of predictions to nearest word and target, and accuracies.

    A prediction is correct where its nearest word, by cosine, is the target.
    Accuracy@n is the share of predictions whose n nearest words hold the target.
    """

    def __init__(self) -> None:
        self.count = 0
        self.found = torch.zeros(len(ACCURACIES), dtype=torch.long)
        self.correct = 0
        # Sums over the correct and over the wrong predictions.
        self.to_nearest = torch.zeros(2, dtype=torch.float64)
        self.to_target = torch.zeros(2, dtype=torch.float64)

    def update(self, positions: Positions) -> None:
        """Raises: ValueError: fewer nearest words than the accuracies ask for."""
        if positions.words.shape[1] < max(ACCURACIES):
            raise ValueError(f"accuracy@{max(ACCURACIES)} needs as many nearest words")
        hit = positions.words == positions.index.unsqueeze(1)
        self.found += torch.stack([hit[:, :n].any(1).sum() for n in ACCURACIES]).cpu()
        correct = positions.correct
        self.count += len(correct)
        self.correct += int(correct.sum())
        cosine, first = positions.cosine.double(), positions.cosines[:, 0].double()
        for place, rows in enumerate((correct, ~correct)):
            self.to_nearest[place] += first[rows].sum().cpu()
            self.to_target[place] += cosine[rows].sum().cpu()

    def result(self) -> dict[str, Any]:
        """``positions``; ``correct``, how many; mean cosines ``nearest_when_correct``, ``nearest_when_wrong``,
        ``target_when_wrong`` and ``target`` (all), None where there is no such prediction; ``accuracy`` in
        percent by n."""
        wrong = self.count - self.correct
        return {
            "positions": self.count,
            "correct": self.correct,
            "nearest_when_correct": _mean(self.to_nearest[0], self.correct),
            "nearest_when_wrong": _mean(self.to_nearest[1], wrong),
            "target_when_wrong": _mean(self.to_target[1], wrong),
            "target": _mean(self.to_target.sum(), self.count),
            "accuracy": {str(n): _mean(100 * hits, self.count) for n, hits in zip(ACCURACIES, self.found, strict=True)},
        }


class Geometry:
    """Distributions of the cosine to the target and of κ, and the share of predictions beyond 135°. Beyond that angle
    the projection loss turns away from the target (see ``losses.syn_margin_proj``)."""

    def __init__(self) -> None:
        self.cosine = Distribution(-1, 1)
        self.kappa = Distribution(1e-2, 1e5, bins=350, log=True)
        self.beyond = 0

    def update(self, positions: Positions) -> None:
        cosine = positions.cosine
        self.cosine.update(cosine)
        self.kappa.update(torch.linalg.vector_norm(positions.pred, dim=-1))
        self.beyond += int((cosine < -(0.5**0.5)).sum())

    def result(self) -> dict[str, Any]:
        """``cosine`` and ``kappa`` (see :class:`Distribution`), and ``beyond_135_degrees``, a share."""
        return {
            "cosine": self.cosine.result(),
            "kappa": self.kappa.result(),
            "beyond_135_degrees": self.beyond / self.cosine.count if self.cosine.count else None,
        }


def _mean(total: Tensor, count: int) -> float | None:
    return total.item() / count if count else None
