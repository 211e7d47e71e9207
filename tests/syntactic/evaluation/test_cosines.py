"""Cosines of all rows to all rows, in blocks."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from scipy import sparse

from fairseq_xl.syntactic.evaluation import cosines


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array], ids=["dense", "sparse"])
def test_cosines_are_numpys_and_rows_of_zeros_have_none(form) -> None:
    rows = np.array([[3.0, 4.0], [0.0, 0.0], [1.0, 0.0]])
    directions = cosines.Directions(form(rows))
    assert len(directions) == 3
    expected = torch.tensor([[1, 0, 0.6], [0, 0, 0]], dtype=torch.float64)
    assert torch.allclose(directions.cosines(0, 2, directions), expected)


def test_blocks_cover_all_rows_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cosines, "BLOCK_BYTES", 8 * 10 * 3)  # three rows of ten numbers
    assert list(cosines.blocks(7, 10)) == [(0, 3), (3, 6), (6, 7)]
    assert list(cosines.blocks(0, 10)) == []
