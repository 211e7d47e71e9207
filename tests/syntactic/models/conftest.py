"""Batches of a small task."""

from __future__ import annotations


def batches(task, split, epoch=1, **options):
    iterator = task.get_batch_iterator(
        task.dataset(split), max_sentences=16, max_positions=(1024, 1024), seed=1, epoch=epoch, **options
    )
    return list(iterator.next_epoch_itr(shuffle=split == "train"))
