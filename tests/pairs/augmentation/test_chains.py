"""Chains of two against their definition."""

from itertools import combinations

from hypothesis import given
from hypothesis import strategies as st

from fairseq_xl.pairs.augmentation.chains import chains

PAIRS = st.dictionaries(
    st.sampled_from([tuple(pair) for pair in combinations("abcdef", 2)]), st.sampled_from([0, 1, None])
)


@given(PAIRS)
def test_ends_that_share_a_match(labels):
    known = {frozenset(pair): label for pair, label in labels.items()}
    ends = {
        frozenset((one, other))
        for one, other in combinations("abcdef", 2)
        if any(
            known.get(frozenset((one, through))) == 1 and known.get(frozenset((through, other))) == 1
            for through in set("abcdef") - {one, other}
        )
    }
    judged = [known[pair] for pair in ends if known.get(pair) is not None]
    found, labelled, right = chains(list(labels), list(labels.values()))
    assert {frozenset((one, other)) for one, _, other in found} == {end for end in ends if known.get(end) is None}
    assert len(found) == len(ends) - len(judged)
    assert (labelled, right) == (len(judged), sum(judged))
    for one, through, other in found:
        assert known[frozenset((one, through))] == known[frozenset((through, other))] == 1


def test_no_chain_goes_through_a_sentence_without_words():
    assert chains([("", "what is it"), ("", "how much is this")], [1, 1]) == ([], 0, 0)
