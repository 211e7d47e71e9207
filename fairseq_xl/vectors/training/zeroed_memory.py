"""Memory that starts as zeros, for a library that forgets to write some of it.

fastText (0.9.2 and later, and so every Python package of it) fills only as many tenths of its
weights with random start values as it has threads; the rest is whatever the memory held before. A
model of the default size gets fresh pages of zeros from the system, but a small one gets scraps of
freed memory: other vectors on each run, weights of 1e38, or NaN. glibc can be told to hand out
zeros instead, and then the untouched weights are zero whatever the size.
"""

from __future__ import annotations

import ctypes
import logging
from collections.abc import Iterator
from contextlib import contextmanager

logger = logging.getLogger(__name__)

_M_PERTURB = -6
_HAND_OUT_ZEROS = 255  # glibc writes the complement of this byte


@contextmanager
def zeroed_memory() -> Iterator[None]:
    """While the block runs, memory newly allocated in this process is zero (a warning where it cannot be)."""
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None)
    if mallopt is None or not mallopt(_M_PERTURB, _HAND_OUT_ZEROS):
        logger.warning(
            "this system's C library cannot hand out zeroed memory, which small fastText models "
            "need: two runs may give different vectors even with one thread"
        )
        yield
        return
    try:
        yield
    finally:
        mallopt(_M_PERTURB, 0)
