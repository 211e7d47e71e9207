"""The processes that load data for a training in the tests' own process."""

from __future__ import annotations

import gc

from torch.utils.data import dataloader


def end() -> None:
    """End them all.

    An iterator that fairseq left in a cycle is collected together with its queues. It cannot tell its workers to end
    then, and waits for each of them for five seconds.
    """
    for found in gc.get_objects():
        if type(found) is dataloader._MultiProcessingDataLoaderIter:
            found._shutdown_workers()
