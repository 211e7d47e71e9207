"""Folds of pairs, against their definition."""

from __future__ import annotations

import pytest

from fairseq_xl.io.errors import InputError
from fairseq_xl.pairs.data.folds import folds


@pytest.mark.parametrize("method", ["components", "communities", "sentences"])
def test_a_sentence_is_in_one_fold(method):
    pairs = [(f"a{i % 40}", f"b{i % 37}") for i in range(60)] + [(f"c{i}", f"d{i}") for i in range(60)]
    found = folds(pairs, 3, method, seed=1)
    home: dict[str, int] = {}
    for pair, places in zip(pairs, found, strict=True):
        for sentence, fold in zip(pair, places, strict=True):
            assert home.setdefault(sentence, fold) == fold
    assert {fold for places in found for fold in places} == {0, 1, 2}
    assert found == folds(pairs, 3, method, seed=1)
    if method == "components":
        assert all(left == right for left, right in found)


def test_communities_lose_fewer_pairs_than_sentences():
    """Four dense clusters with a bridge from each to the next: all is one component."""
    pairs = [((c, i), (c, j)) for c in range(4) for i in range(8) for j in range(i)]
    pairs += [((c, 0), (c + 1, 0)) for c in range(3)]
    across = {
        method: sum(a != b for a, b in folds(pairs, 2, method, seed=1)) for method in ("communities", "sentences")
    }
    assert across["communities"] <= 3 < across["sentences"]


@pytest.mark.parametrize("method", ["components", "communities"])
def test_folds_are_of_what_is_judged(method):
    """Many pairs that no fold is judged on, some with a sentence of those that are."""
    judged = [(f"a{i}", f"b{i}") for i in range(20)]
    others = [(f"c{i}", f"d{i}") for i in range(500)] + [("a0", "e0")]
    found = folds([*judged, *others], 10, method, 1, [True] * 20 + [False] * 501)
    inside = [left for left, right in found[:20] if left == right]
    assert sorted(inside) == sorted([*range(10)] * 2)
    assert set(found[20:520]) == {(10, 10)}, "which is never held out"
    assert found[520][0] == found[0][0] != 10


def test_one_component_makes_no_folds():
    with pytest.raises(InputError, match="one has no pair inside"):
        folds([(0, i) for i in range(1, 9)], 3, "components", seed=1)
