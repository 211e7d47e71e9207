"""Predictions and targets."""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import Tensor


def batch(
    n: int = 12, d: int = 6, seed: int = 0, scale: float = 1.0, dtype: torch.dtype = torch.float64
) -> tuple[Tensor, Tensor]:
    """Raw predictions (n, d) of some length, which take a gradient, and unit targets (n, d)."""
    generator = torch.Generator().manual_seed(seed)
    pred = scale * torch.randn(n, d, generator=generator, dtype=torch.float64)
    target = F.normalize(torch.randn(n, d, generator=generator, dtype=torch.float64), dim=-1)
    return pred.to(dtype).requires_grad_(), target.to(dtype)
