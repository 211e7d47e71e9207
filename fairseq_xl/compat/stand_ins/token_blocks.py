"""Cutting a text into blocks in numpy, for installations without
``fairseq.data.token_block_utils_fast``.

Language-model tasks need it. Names, arguments and results are the compiled module's.
"""

from __future__ import annotations

import numpy as np


def _get_slice_indices_fast(
    sizes: np.ndarray, break_mode: str | None, block_size: int, document_sep_len: int
) -> np.ndarray:
    """Token ranges of the blocks.

    Args:
        sizes: (N,) tokens of each sentence.
        break_mode: ``none`` (equal blocks), ``complete`` (whole sentences), ``complete_doc``
            (whole sentences of one document) or ``eos`` (one sentence a block).
        block_size: most tokens of a block; a longer sentence makes a longer block.
        document_sep_len: length of the sentence that separates documents.

    Returns:
        (B, 2) int64, begin and end of each block in the concatenated text.

    Raises:
        ValueError: an unknown break mode.
    """
    ends = np.cumsum(sizes, dtype=np.int64)
    if break_mode is None or break_mode == "none":
        total = int(ends[-1]) if len(ends) else 0
        begins = np.arange(0, total, block_size, dtype=np.int64)
        return np.stack([begins, np.minimum(begins + block_size, total)], axis=1)
    if break_mode == "eos":
        return np.stack([ends - sizes, ends], axis=1)
    if break_mode == "complete":
        return _whole_sentences(sizes.tolist(), block_size, separator=None, shortest=1)
    if break_mode == "complete_doc":
        return _whole_sentences(sizes.tolist(), block_size, separator=document_sep_len, shortest=2)
    raise ValueError(f"Invalid break_mode: {break_mode}")


def _whole_sentences(sizes: list[int], block_size: int, separator: int | None, shortest: int) -> np.ndarray:
    blocks: list[tuple[int, int]] = []
    begin = held = 0

    def close() -> None:
        nonlocal begin, held
        if held >= shortest:
            blocks.append((begin, begin + held))
        begin += held
        held = 0

    for size in sizes:
        separates = size == separator
        if separates or (held and held + size > block_size):
            close()
        if separates:
            begin += size
        else:
            held += size
    close()
    return np.array(blocks, dtype=np.int64).reshape(-1, 2)


def _get_block_to_dataset_index_fast(sizes: np.ndarray, slice_indices: np.ndarray) -> np.ndarray:
    """Where each block begins and ends among the sentences.

    Returns:
        (B, 3) int64: first sentence, offset in it, last sentence. A position that begins a
        sentence belongs to the first sentence that begins there, be it empty.
    """
    starts = np.concatenate([np.zeros(1, dtype=np.int64), np.cumsum(sizes, dtype=np.int64)])

    def sentence_of(position: np.ndarray) -> np.ndarray:
        found = np.searchsorted(starts, position, side="left")
        return np.where(starts[found] == position, found, found - 1)

    begins, ends = slice_indices[:, 0], slice_indices[:, 1]
    first = sentence_of(begins)
    last = np.where(ends <= begins, first, sentence_of(np.maximum(ends - 1, 0)))
    return np.stack([first, begins - starts[first], last], axis=1).astype(np.int64)
