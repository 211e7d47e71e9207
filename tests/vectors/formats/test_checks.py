"""The rows that every table of vectors must have."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from fairseq_xl.io.errors import InputError
from fairseq_xl.vectors.formats import checks


@pytest.mark.parametrize(
    ("value", "fault"), [(np.nan, "holds NaN or infinity"), (-np.inf, "holds NaN or infinity"), (0.0, "is all zeros")]
)
def test_the_first_unusable_row_is_named(value: float, fault: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(checks, "_ROWS_PER_CHUNK", 2)
    check = checks.RowCheck(Path("a.vec"), lambda row: f"line {row + 2}")
    matrix = np.ones((5, 3), dtype=np.float32)
    check.check(list("abcde"), matrix)
    matrix[3:] = value
    with pytest.raises(InputError, match=f"^a.vec, line 5: the vector of 'd' {fault}"):
        check.check(list("abcde"), matrix)
