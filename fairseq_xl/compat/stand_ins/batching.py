"""fairseq's batching in Python, for installations without the compiled
``fairseq.data.data_utils_fast``.

The three public functions have the compiled ones' names, arguments and results, to the last batch.
This module is what ``import fairseq.data.data_utils_fast`` yields where that was not built.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np


def batch_by_size_vec(
    indices: np.ndarray, num_tokens_vec: np.ndarray, max_tokens: int, max_sentences: int, bsz_mult: int
) -> list[np.ndarray]:
    """Cut ``indices`` into consecutive batches.

    A batch is a *settled* part, known to be valid, and a *tail* that has not yet made it a multiple of ``bsz_mult``
    again. A sentence that would make both together too large closes the settled part, and the tail becomes a new batch.
    A tail that is itself too large with this sentence is closed before it, too.

    Args:
        indices: (N,) sentence numbers, in the order to be batched.
        num_tokens_vec: (N,) their lengths in tokens.
        max_tokens: most tokens of a batch, padding included; no limit if <= 0.
        max_sentences: most sentences of a batch; no limit if <= 0.
        bsz_mult: batches hold fewer sentences than this or a multiple of it, where that is possible.

    Returns:
        views of ``indices``, in order, which together are ``indices``.

    Raises:
        AssertionError: a sentence is longer than ``max_tokens``.
    """
    count = len(indices)
    if count == 0:
        return []
    assert max_tokens <= 0 or np.max(num_tokens_vec) <= max_tokens, (
        f"Sentences lengths should not exceed max_tokens={max_tokens}"
    )
    ends: list[int] = []  # of the closed batches
    start = settled = 0  # of the open batch: its first sentence, the end of its settled part
    longest_settled = longest_tail = 0
    for position, length in enumerate(num_tokens_vec.tolist()):
        if length > longest_tail:
            longest_tail = length
        longest = longest_settled if longest_settled > longest_tail else longest_tail
        sentences = position + 1 - start
        too_large = 0 < max_sentences < sentences or 0 < max_tokens < sentences * longest
        if too_large:
            if 0 < max_tokens < longest_tail * (position + 1 - settled):
                ends.append(settled)
                settled = position
                longest_tail = length
            ends.append(settled)
            start = settled
            longest = longest_tail
        if too_large or sentences < bsz_mult or sentences % bsz_mult == 0:
            settled = position + 1
            longest_settled = longest
            longest_tail = 0
    if settled != count:
        ends.append(settled)
    return np.split(indices, np.array(ends, dtype=np.int32))


def batch_by_size_fn(
    indices: np.ndarray, num_tokens_fn: Callable[[int], int], max_tokens: int, max_sentences: int, bsz_mult: int
) -> list[np.ndarray]:
    """:func:`batch_by_size_vec` with the lengths given by a function of the sentence number."""
    lengths = np.fromiter(map(num_tokens_fn, indices.tolist()), dtype=np.int64, count=len(indices))
    return batch_by_size_vec(indices, lengths, max_tokens, max_sentences, bsz_mult)


def batch_fixed_shapes_fast(
    indices: np.ndarray, num_tokens_fn: Callable[[int], int], fixed_shapes_sorted: np.ndarray
) -> list[list[int]]:
    """Cut ``indices`` into batches that each fit one of the shapes (sentences, tokens), sorted
    ascending.

    The compiled function forgets the length of the sentence that opens a batch, except in the first batch. Such a batch
    may be wider than its shape. This function does the same, because equal batches matter more than mending that.
    """
    shapes = [(int(sentences), int(tokens)) for sentences, tokens in fixed_shapes_sorted]
    batches: list[list[int]] = []
    batch: list[int] = []
    longest = first = 0  # first: the shapes before it are known to be too small for this batch
    for index in indices.tolist():
        longest = max(longest, num_tokens_fn(index))
        fitting = (
            place
            for place in range(first, len(shapes))
            if len(batch) < shapes[place][0] and longest <= shapes[place][1]
        )
        place = next(fitting, None)
        if place is None:
            batches.append(batch)
            batch = []
            longest = first = 0
        else:
            first = place
        batch.append(index)
    if batch:
        batches.append(batch)
    return batches
