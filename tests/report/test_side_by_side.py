"""Sentences on which two systems differ."""

import pytest

from fairseq_xl.report.side_by_side import marked, side_by_side


def test_marks_are_what_the_other_lacks():
    one, two = ["he", "sees", "the", "red", "house", "."], ["she", "sees", "the", "house", "there", "."]
    assert [word for word, other in marked(one, two) if other] == ["he", "red"]
    assert [word for word, other in marked(two, one) if other] == ["she", "there"]
    assert [word for word, _ in marked(one, two)] == one


def test_the_largest_difference_comes_first():
    references = ["a man runs .", "the big dog sits .", "a cat is here ."]
    first = ["a man runs .", "the big dog sits .", "a cat is here ."]
    second = ["a man runs .", "nothing alike", "a cat was here ."]
    pairs = side_by_side(["s1", "s2", "s3"], references, first, second)
    assert [pair.number for pair in pairs] == [2, 3], "equal translations are left out"
    assert pairs[0].source == "s2"
    assert pairs[0].scores[0] == pytest.approx(100)
    assert pairs[0].scores[1] < 30
    assert all(other for _, other in pairs[0].words[0])
    assert len(side_by_side(["s"] * 3, references, first, second, count=1)) == 1


def test_unequal_numbers():
    with pytest.raises(ValueError, match="unequal"):
        side_by_side(["s"], ["r"], ["one"], ["one", "two"])
