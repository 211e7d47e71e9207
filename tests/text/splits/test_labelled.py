"""Stratified splits without common texts."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fairseq_xl.io.errors import InputError
from fairseq_xl.text.splits.labelled import nested, stratified, unique


def test_unique():
    found = unique([("a", 0), ("b", 1), ("a", 0), ("", 1), ("c", 0), ("c", 1), ("k", 0)], {"k"})
    assert (found.texts, found.labels) == (["a", "b"], [0, 1])
    assert found.left_out == {"empty": 1, "duplicate": 2, "contradictory": 2}


@given(st.lists(st.integers(10, 40), min_size=2, max_size=4), st.integers(0, 5))
def test_every_class_has_its_share_of_every_split(sizes, seed):
    labels = [c for c, size in enumerate(sizes) for _ in range(size)]
    splits = stratified(labels, [0.2, 0.1], seed)
    assert sorted(i for split in splits for i in split) == list(range(len(labels)))
    for split, share in zip(splits, (0.2, 0.1, 0.7), strict=True):
        counts = Counter(labels[i] for i in split)
        for c, size in enumerate(sizes):
            assert abs(counts[c] - share * size) <= 1
    assert splits == stratified(labels, [0.2, 0.1], seed)


def test_another_seed_another_split():
    labels = [0, 1] * 50
    assert stratified(labels, [0.5], 1) != stratified(labels, [0.5], 2)


def test_too_few_of_a_class():
    with pytest.raises(InputError, match="class b has 2 texts, too few"):
        stratified(["a"] * 20 + ["b"] * 2, [0.1, 0.1], 1)


@given(st.integers(1, 30), st.integers(0, 3))
def test_nested_sizes_contain_each_other(size, seed):
    labels = [0] * 20 + [1] * 10
    small, large = nested(labels, size, seed), nested(labels, 30, seed)
    assert len(small) == size
    assert set(small) <= set(nested(labels, min(size + 5, 30), seed)) <= set(large)
    assert abs(sum(labels[i] == 0 for i in small) - size * 2 / 3) <= 1.5
