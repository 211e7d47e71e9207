"""What pairs link, against its definition."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from fairseq_xl.text.splits.linked import groups

PAIRS = st.lists(st.tuples(st.integers(0, 12), st.integers(0, 12)), max_size=20)


@given(PAIRS)
def test_a_group_is_what_sentences_link(pairs):
    found = groups(pairs)
    assert list(dict.fromkeys(found)) == list(range(len(set(found))))  # by first appearance
    reached = list(range(len(pairs)))
    for _ in pairs:  # the smallest number that reaches each pair, until nothing changes
        for i, a in enumerate(pairs):
            for j, b in enumerate(pairs):
                if set(a) & set(b):
                    reached[i] = reached[j] = min(reached[i], reached[j])
    for i in range(len(pairs)):
        for j in range(len(pairs)):
            assert (found[i] == found[j]) == (reached[i] == reached[j])
