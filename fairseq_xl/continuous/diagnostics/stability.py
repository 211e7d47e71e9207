"""What a margin loss's negative is made of: λ₃ and λ₄ of Bhat, Kumar & Tsvetkov 2019, section 3.1.

Let u_orth be the unit vector along the part of û orthogonal to the target u, so that û = λ₁u + λ₂u_orth. Any unit
negative is x = λ₃u + λ₄u_orth + y with y orthogonal to both, and the loss depends on λ₃ and λ₄ alone:

    max(0, λ + xᵀû − uᵀû) = max(0, λ + λ₄ u_orthᵀû − (1 − λ₃) uᵀû)

The paper argues that λ₃ and λ₄ are constant, 0 and 1, for the projection, and fluctuate for sampled and searched
negatives. (λ₃² + λ₄² = 1 − ‖y‖², which is 1 for both synthetic negatives: they lie in the plane of û and u.)
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from fairseq_xl.continuous.diagnostics.accuracy import Positions
from fairseq_xl.continuous.diagnostics.distribution import Distribution
from fairseq_xl.continuous.models.targets import TargetTable
from fairseq_xl.losses import negatives

SOURCES = ("projection", "difference", "uniform", "most_informative")


def components(negative: Tensor, pred: Tensor, target: Tensor) -> tuple[Tensor, Tensor]:
    """λ₃ = xᵀu and λ₄ = xᵀu_orth of negatives x.

    Args:
        negative: unit rows (N, k, d).
        pred: raw predictions (N, d).
        target: unit rows (N, d).

    Returns:
        two (N, k); λ₄ is 0 where û is parallel to u, so that there is no u_orth.
    """
    orthogonal = negatives.projection(pred, target)
    return ((negative @ target.unsqueeze(-1)).squeeze(-1), (negative @ orthogonal.unsqueeze(-1)).squeeze(-1))


def negatives_of(
    positions: Positions, targets: TargetTable, draws: int, generator: torch.Generator
) -> dict[str, Tensor]:
    """The negatives (N, k, d) that each of ``SOURCES`` has for the same predictions; k is ``draws`` for the
    uniform ones and 1 otherwise."""
    pred, index, target = positions.pred, positions.index, positions.target
    return {
        "projection": negatives.projection(pred, target).unsqueeze(1),
        "difference": negatives.difference(pred, target).unsqueeze(1),
        "uniform": targets(negatives.uniform_negative_words(index, targets, draws, generator)),
        "most_informative": targets(negatives.most_informative_negative_words(pred, index, targets)).unsqueeze(1),
    }


class Stability:
    """λ₃ and λ₄ of one source of negatives, and how often its hinge is active.

    Args:
        margin: λ of the hinge; None where the model was not trained with one.
    """

    def __init__(self, margin: float | None):
        self.margin = margin
        self.lambda3 = Distribution(-1, 1)
        self.lambda4 = Distribution(-1, 1)
        self.undefined = 0
        self.count = 0
        self.active = 0

    def update(self, negative: Tensor, positions: Positions) -> None:
        """Count in negatives (N, k, d), each as one."""
        lambda3, lambda4 = components(negative, positions.pred, positions.target)
        defined = negatives.projection(positions.pred, positions.target).any(-1)
        self.lambda3.update(lambda3[defined])
        self.lambda4.update(lambda4[defined])
        self.undefined += int((~defined).sum())
        self.count += lambda3.numel()
        if self.margin is not None:
            unit = torch.nn.functional.normalize(positions.pred, dim=-1)
            against = (negative @ unit.unsqueeze(-1)).squeeze(-1)
            hinge = self.margin + against - positions.cosine.unsqueeze(-1)
            self.active += int((hinge > 0).sum())

    def result(self) -> dict[str, Any]:
        """``lambda3`` and ``lambda4`` are distributions (see :class:`Distribution`). ``undefined`` counts positions
        left out of both because û is parallel to u. ``hinge_active`` is a share of all negatives, None without a
        margin."""
        known = self.margin is not None and self.count
        return {
            "lambda3": self.lambda3.result(),
            "lambda4": self.lambda4.result(),
            "undefined": self.undefined,
            "hinge_active": self.active / self.count if known else None,
        }
