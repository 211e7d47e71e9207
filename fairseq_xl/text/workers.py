"""Worker processes that say when one of them is killed, and end with the process that started them."""

from __future__ import annotations

import multiprocessing
import os
import threading
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from multiprocessing.connection import wait

from fairseq_xl.io.errors import InputError


@contextmanager
def workers(processes: int, does: str) -> Iterator[ProcessPoolExecutor]:
    """A pool of new processes, which import what they need themselves.

    Unlike ``multiprocessing.Pool``, this one raises when a worker is killed instead of waiting for ever.

    Args:
        processes: how many.
        does: what a worker does, in a sentence: "tags".

    Raises:
        InputError: a worker was killed.
    """
    spawn = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(processes, mp_context=spawn, initializer=_end_with_the_parent) as pool:
        try:
            yield pool
        except BrokenProcessPool:
            raise InputError(
                f"a process that {does} was killed, perhaps for want of memory: start again, with fewer --processes"
            ) from None


def _end_with_the_parent() -> None:
    """A worker waits for work on a pipe whose other end its siblings have, too: it would wait for ever."""
    parent = multiprocessing.parent_process()
    assert parent is not None

    def watch() -> None:
        wait([parent.sentinel])
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()
