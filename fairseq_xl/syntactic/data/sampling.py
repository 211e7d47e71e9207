"""How many sentences of each pair an epoch has, and which."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np


def apportion(sizes: Sequence[int], temperature: float) -> np.ndarray:
    """Share an epoch of ``sum(sizes)`` sentences among pairs in proportion to size^(1/temperature).

    1 keeps the sizes; the higher the temperature, the more equal the shares (Arivazhagan et al. 2019, section 4.2).
    Fractions go to the pairs that they are largest of.

    Args:
        sizes: sentences of each pair, none of them 0.
        temperature: above 0.

    Returns:
        (pairs,) whole numbers that sum to ``sum(sizes)``.
    """
    logs = np.log(np.asarray(sizes, dtype=np.float64)) / temperature
    shares = np.exp(logs - logs.max())
    exact = sum(sizes) * shares / shares.sum()
    counts = np.floor(exact + 1e-9).astype(np.int64)
    missing = sum(sizes) - int(counts.sum())
    counts[np.argsort(counts - exact, kind="stable")[:missing]] += 1
    return counts


def draw(rows: np.ndarray, count: int, rng: np.random.Generator) -> np.ndarray:
    """``count`` of the rows: all of them as often as they fit, the rest without repetition by chance."""
    whole, rest = divmod(count, len(rows))
    return np.concatenate([np.tile(rows, whole), rng.choice(rows, rest, replace=False)])
