"""What every bootstrap over sentences and runs shares."""

from __future__ import annotations

import numpy as np


def drawn_runs(random: np.random.Generator, count: int) -> np.ndarray:
    """The places of the runs of one draw: one run fewer than there are, with replacement.

    As many as there are would make intervals too narrow. The variance of their mean is then (n − 1)/n of what it should
    be, a third too little for three runs. One run alone is taken as it is, and the interval is then over sentences.
    The scheme is of Rao & Wu 1988, "Resampling Inference with Complex Survey Data".

    Args:
        random: the generator, from which the draw takes numbers.
        count: of the runs, from 1.

    Returns:
        (max(1, count − 1),)
    """
    return random.integers(count, size=max(1, count - 1))


def interval(draws: np.ndarray) -> tuple[float, float]:
    """95 % percentile interval of draws (samples,)."""
    low, high = np.quantile(draws, [0.025, 0.975])
    return float(low), float(high)
