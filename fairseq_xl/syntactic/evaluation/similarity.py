"""How alike tag sequences are: the complement of their normalised Levenshtein distance."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from fairseq_xl.io.packages import require

Pattern = Sequence[str]


def similarities(queries: Sequence[Pattern], candidates: Sequence[Pattern]) -> np.ndarray:
    """l(u, v) = 1 − Levenshtein(u, v) / max(|u|, |v|), float64 (N, M); 1 between two empty sequences.

    Raises:
        InputError: rapidfuzz is not installed.
    """
    compare = require("rapidfuzz.process", "syntactic", "the comparison of tag sequences").cdist
    measure = require("rapidfuzz.distance", "syntactic").Levenshtein.normalized_similarity
    return compare(queries, candidates, scorer=measure, dtype=np.float64)
