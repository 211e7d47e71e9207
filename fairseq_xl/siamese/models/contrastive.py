"""The contrastive loss on cosines.

Source: Choudhary, Singh & Shrivastava 2018, "Cross-Lingual Task-Specific Representation Learning for Text
Classification in Resource Poor Languages", section 3.3.
"""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import Tensor

from fairseq_xl.losses.table import outside_autocast


def unit(vectors: Tensor) -> Tensor:
    """(…, d) on the unit sphere, in float32; a zero vector stays zero, and so has cosine 0 to everything."""
    return F.normalize(vectors.float(), dim=-1, eps=1e-12)


def contrastive(cosine: Tensor, same: Tensor, margin: float) -> Tensor:
    """Equation 2: 1 − cos for pairs of one class, max(0, cos − m) for pairs of two; not squared, not reduced.

    Args:
        cosine: (…) of the pairs.
        same: (…) bool, whether the two have one class.
        margin: cosine up to which two classes may come.
    """
    return torch.where(same, 1 - cosine, (cosine - margin).clamp_min(0))


@outside_autocast
def all_pairs(vectors: Tensor, labels: Tensor, margin: float) -> Tensor:
    """The mean () of the loss over pairs of one class and over pairs of two, each kind with weight one half.

    Args:
        vectors: (N, d) unit vectors.
        labels: (N,) classes; a kind of which there is no pair counts as zero.
        margin: see :func:`contrastive`.
    """
    same = labels.unsqueeze(0) == labels.unsqueeze(1)
    loss = contrastive(vectors @ vectors.t(), same, margin)
    itself = torch.eye(len(labels), dtype=torch.bool, device=labels.device)
    kinds = (same & ~itself, ~same)
    return torch.stack([(loss * kind).sum() / kind.sum().clamp_min(1) for kind in kinds]).sum() / 2
