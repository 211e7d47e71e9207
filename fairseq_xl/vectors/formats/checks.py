"""What every table must satisfy, whichever file it came from: finite rows, none of them all zero."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from fairseq_xl.io.errors import InputError

_ROWS_PER_CHUNK = 65_536  # bounds the temporary arrays to some 100 MB at dimension 300


@dataclass(frozen=True)
class RowCheck:
    """Names the first unusable row of a table by its word and by ``place(row)``, for example "line 7"."""

    path: Path
    place: Callable[[int], str]

    def check(self, words: list[str], matrix: np.ndarray) -> None:
        """Raise InputError if a row of ``matrix`` (n, d) holds NaN or infinity or nothing but zeros."""
        for start in range(0, len(matrix), _ROWS_PER_CHUNK):
            rows = matrix[start : start + _ROWS_PER_CHUNK]
            finite = np.isfinite(rows).all(axis=1)
            usable = finite & rows.any(axis=1)
            if usable.all():
                continue
            row = int(np.argmin(usable))
            fault = "is all zeros" if finite[row] else "holds NaN or infinity"
            raise InputError(
                f"{self.path}, {self.place(start + row)}: the vector of {words[start + row]!r} {fault}: "
                "remove the word or train its vector again"
            )
