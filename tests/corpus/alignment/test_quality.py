"""Precision and recall by hand, and on the gold alignments where they are."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fairseq_xl.corpus.alignment.quality import compare, quality, read_gold
from fairseq_xl.io.errors import InputError

GOLD = [([0], [0]), ([1, 2], [1]), ([3], []), ([4], [2, 3])]


def test_by_hand():
    found = [([0], [0]), ([1], [1]), ([2], []), ([3], [2]), ([4], [3]), ([5], [5])]
    scores = quality(found, GOLD)
    strict, lax = scores["strict"], scores["lax"]
    assert (strict.precision, strict.recall) == pytest.approx((1 / 5, 1 / 3))
    assert (lax.precision, lax.recall) == pytest.approx((3 / 5, 1))
    assert lax.f1 == pytest.approx(2 * 0.6 / 1.6)


def test_nothing_found():
    assert quality([([0], [])], GOLD)["lax"].f1 == 0


BEADS = st.lists(st.tuples(*[st.lists(st.integers(0, 5), unique=True, max_size=2).map(sorted)] * 2), max_size=6)


@given(BEADS, BEADS)
def test_against_a_double_loop(found, gold):
    scores = quality(found, gold)
    found, gold = ([b for b in beads if b[0] and b[1]] for beads in (found, gold))
    meet = lambda a, b: all(set(x) & set(y) for x, y in zip(a, b, strict=True))  # noqa: E731
    right = sum(any(a == b for b in gold) for a in found)
    assert scores["strict"].precision == pytest.approx(right / max(len(found), 1))
    near = sum(any(meet(a, b) for b in found) for a in gold)
    assert scores["lax"].recall == pytest.approx(near / max(len(gold), 1))
    assert scores["lax"].precision >= scores["strict"].precision


def test_gold_of_other_texts(tmp_path):
    (tmp_path / "gold").write_text("[0]:[9]\n")
    with pytest.raises(InputError, match="names line 9 of 2"):
        read_gold(tmp_path / "gold", (2, 2))


def test_a_table_without_a_gold_pair():
    with pytest.raises(InputError, match="no line with a counterpart"):
        compare(["a"], ["b"], [([0], [])])
