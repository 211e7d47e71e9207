"""A text cut into blocks in numpy against what lies in each block, token by token."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fairseq_xl.compat.stand_ins import token_blocks


@given(st.lists(st.integers(1, 9), min_size=1, max_size=30), st.integers(1, 20))
def test_blocks_of_equal_length_and_where_they_lie(sizes, block_size):
    owners = [(i, offset) for i, size in enumerate(sizes) for offset in range(size)]
    vector = np.array(sizes, dtype=np.int64)
    slices = token_blocks._get_slice_indices_fast(vector, "none", block_size, 1)
    assert [list(range(a, b)) for a, b in slices] == [
        list(range(len(owners)))[i : i + block_size] for i in range(0, len(owners), block_size)
    ]
    places = token_blocks._get_block_to_dataset_index_fast(vector, slices)
    for (begin, end), (first, offset, last) in zip(slices, places, strict=True):
        assert (first, offset) == owners[begin]
        assert last == owners[end - 1][0]


@given(st.lists(st.integers(1, 9), min_size=1, max_size=30), st.integers(1, 20))
def test_blocks_of_whole_sentences(sizes, block_size):
    vector = np.array(sizes, dtype=np.int64)
    slices = token_blocks._get_slice_indices_fast(vector, "complete", block_size, 0)
    borders = {0, *np.cumsum(vector).tolist()}
    assert slices[0][0] == 0
    assert slices[-1][1] == sum(sizes)
    for (begin, end), following in zip(slices, [*slices[1:, 1].tolist(), None], strict=True):
        inside = [b for b in borders if begin < b < end]
        assert {int(begin), int(end)} <= borders
        assert end - begin <= block_size or not inside
        if following is not None:  # the next sentence would not have fitted
            nearest = min(b for b in borders if b > end)
            assert nearest - begin > block_size


def test_documents_are_not_mixed_and_sentences_can_be_blocks():
    sizes = np.array([3, 2, 1, 4, 4, 1, 1], dtype=np.int64)  # a sentence of one token separates
    blocks = token_blocks._get_slice_indices_fast(sizes, "complete_doc", 6, 1)
    assert blocks.tolist() == [[0, 5], [6, 10], [10, 14]]
    blocks = token_blocks._get_slice_indices_fast(sizes, "eos", 0, 1)
    assert blocks.tolist() == [[0, 3], [3, 5], [5, 6], [6, 10], [10, 14], [14, 15], [15, 16]]
    with pytest.raises(ValueError, match="Invalid break_mode"):
        token_blocks._get_slice_indices_fast(sizes, "word", 6, 1)
