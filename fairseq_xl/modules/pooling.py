"""From one vector per word to one per sentence; padding never takes part."""

from __future__ import annotations

from torch import Tensor

KINDS = ("max", "mean")


def max_pool(states: Tensor, padding: Tensor) -> Tensor:
    """The largest value of each feature over a sentence's words.

    Args: states (N, T, C); padding (N, T), true where there is no word.

    Returns:
        (N, C), zeros for a row without words. Of several equal values each has its share of the gradient.
    """
    largest = states.masked_fill(padding.unsqueeze(-1), -float("inf")).amax(1)
    return largest.masked_fill(padding.all(1, keepdim=True), 0)


def mean_pool(states: Tensor, padding: Tensor) -> Tensor:
    """The mean of each feature over a sentence's words. Args and result as :func:`max_pool`."""
    words = padding.logical_not().sum(1, keepdim=True).clamp_min(1)
    return states.masked_fill(padding.unsqueeze(-1), 0).sum(1) / words


def pool(kind: str, states: Tensor, padding: Tensor) -> Tensor:
    """:func:`max_pool` or :func:`mean_pool`. Raises: ValueError: another kind."""
    if kind not in KINDS:
        raise ValueError(f"pooling is one of {', '.join(KINDS)}, not {kind!r}")
    return (max_pool if kind == "max" else mean_pool)(states, padding)
