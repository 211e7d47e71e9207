"""Which sentences a model reads together when it does not train."""

from __future__ import annotations

from collections.abc import Iterator, Sequence


def batches(lengths: Sequence[int], max_tokens: int) -> Iterator[list[int]]:
    """Places of sentences, the longest first, in groups that take at most ``max_tokens`` when padded.

    A sentence longer than that stands alone.
    """
    order = sorted(range(len(lengths)), key=lambda place: -lengths[place])
    start = 0
    while start < len(order):
        size = max(1, max_tokens // lengths[order[start]])
        yield order[start : start + size]
        start += size
