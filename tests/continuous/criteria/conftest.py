"""Predictions of words of a small table."""

from __future__ import annotations

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor

from fairseq_xl.continuous.models.targets import TargetTable


@pytest.fixture
def problem() -> tuple[Tensor, Tensor, TargetTable]:
    """Raw predictions, which take a gradient, the rows of their words, and the table of nine words."""
    generator = torch.Generator().manual_seed(0)
    table = F.normalize(torch.randn(9, 6, generator=generator), dim=-1)
    targets = TargetTable(table, torch.zeros(9, dtype=torch.bool), [str(i) for i in range(9)])
    return torch.randn(5, 6, generator=generator).requires_grad_(), torch.tensor([2, 3, 3, 7, 8]), targets
