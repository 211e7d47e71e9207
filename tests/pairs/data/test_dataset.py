"""Pairs as fairseq reads them, with their sides exchanged or not."""

from __future__ import annotations

from fairseq_xl.pairs.data.dataset import PairDataset
from fairseq_xl.pairs.data.directory import DataDirectory


def test_sides_are_exchanged_anew_each_epoch(valid, prepared):
    dictionary = DataDirectory(prepared).dictionary
    data = PairDataset(valid, dictionary, seed=3, exchange=True)
    first = data.exchanged.copy()
    assert 0 < first.sum() < len(first)
    for place in range(len(valid)):
        _, left, right = data[place]
        plain = [dictionary.index(word) for word in valid[place].left.split()]
        assert (right if first[place] else left).tolist() == plain
    data.set_epoch(2)
    assert (data.exchanged != first).any()
    data.set_epoch(1)
    assert (data.exchanged == first).all()
    assert not PairDataset(valid, dictionary).exchanged.any()


def test_processes_share_each_epoch(valid, prepared, assert_processes_share_each_epoch):
    dictionary = DataDirectory(prepared).dictionary
    assert_processes_share_each_epoch(lambda: PairDataset(valid, dictionary, seed=3, exchange=True))
