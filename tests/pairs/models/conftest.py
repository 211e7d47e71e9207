"""Sentences of different length."""

from __future__ import annotations

import pytest
import torch
from pair_classifiers import DIM


@pytest.fixture
def sentences() -> list[torch.Tensor]:
    torch.manual_seed(2)
    return [torch.randn(length, DIM, dtype=torch.float64) for length in (1, 4, 2, 7, 3, 3)]
