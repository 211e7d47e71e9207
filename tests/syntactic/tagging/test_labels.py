"""Tags as labels of pieces."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fairseq_xl.syntactic.tagging.labels import labels_of, tags_of


@pytest.mark.parametrize(
    ("pieces", "tokens", "tags", "labels"),
    [
        ("zum Haus", "zum Haus", ["ADP DET", "NOUN"], "ADP+DET NOUN"),
        ("do n't go", "don't go", ["AUX PART", "VERB"], "AUX PART VERB"),
        ("10 km", "10km", ["NOUN"], "NOUN _"),
        ("我 爱 北 京", "我 爱 北京", ["PRON", "VERB", "PROPN"], "PRON VERB PROPN _"),
        ("a-b c", "a - b c", ["NOUN", "PUNCT", "NOUN", "ADV"], "NOUN+PUNCT+NOUN ADV"),
        ("ab cd", "a bc d", ["X", "NUM VERB", "ADV"], "X NUM+VERB+ADV"),
    ],
)
def test_examples(pieces, tokens, tags, labels):
    found = labels_of(pieces.split(), tokens.split(), [word.split() for word in tags])
    assert found == labels.split()


@given(st.data())
def test_the_tags_come_back(data):
    """Whatever the cuts, no tag is lost and the order stays."""
    text = data.draw(st.text("abc", min_size=1, max_size=12))

    def cut() -> list[str]:
        places = sorted(data.draw(st.sets(st.integers(1, max(1, len(text) - 1)))))
        bounds = [0, *[place for place in places if place < len(text)], len(text)]
        return [text[first:last] for first, last in pairwise(bounds)]

    pieces, tokens = cut(), cut()
    tags = [data.draw(st.lists(st.sampled_from("NVP"), min_size=1, max_size=3)) for _ in tokens]
    labels = labels_of(pieces, tokens, tags)
    assert len(labels) == len(pieces)
    assert tags_of(labels) == [tag for word in tags for tag in word]


def test_white_space_does_not_count():
    assert labels_of(["New", " ", "York"], ["New York"], [["PROPN"]]) == ["PROPN", "_", "_"]


def test_other_sentences():
    with pytest.raises(ValueError, match="are not the tokens"):
        labels_of(["ab"], ["ac"], [["X"]])
