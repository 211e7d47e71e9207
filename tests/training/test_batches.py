"""Batches for inference."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from fairseq_xl.training.batches import batches


@given(lengths=st.lists(st.integers(1, 50), max_size=30), max_tokens=st.integers(1, 200))
def test_batches_hold_every_sentence_once_and_no_more_than_they_may(lengths, max_tokens):
    found = list(batches(lengths, max_tokens))
    assert sorted(place for batch in found for place in batch) == list(range(len(lengths)))
    for batch in found:
        sizes = [lengths[place] for place in batch]
        assert sizes == sorted(sizes, reverse=True)
        assert len(batch) == 1 or sizes[0] * len(batch) <= max_tokens
