"""Epochs and batches of many pairs."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from fairseq_xl.syntactic.data.dataset import MixedPairs, PairData, Sampling, apportion, draw

PAD, EOS = 1, 2


class Lines(list):
    """Made-up sentences, each with its own first word."""

    def __init__(self, first: int, count: int):
        rng = np.random.default_rng(first)
        rows = [[first + i, *rng.integers(10, 99, rng.integers(0, 5)), EOS] for i in range(count)]
        super().__init__(torch.tensor(row, dtype=torch.int32) for row in rows)
        self.sizes = np.array([len(row) for row in rows])


def mixed(sampling=None, sizes=(30, 5), own=()):
    parts = [
        PairData(Lines(1000 * (i + 1), n), Lines(1000 * (i + 1) + 500, n), 7 + i, 3 * i, i in own)
        for i, n in enumerate(sizes)
    ]
    return MixedPairs(parts, PAD, EOS, sampling)


def epoch(data: MixedPairs, number: int) -> list[int]:
    data.set_epoch(number)
    return data.ordered_indices().tolist()


def test_sentences_come_with_their_translation_and_pair():
    data = mixed()
    for index in range(len(data)):
        item = data[index]
        assert item["target"][0] == item["source"][0] + 500
        assert (item["pair"], item["language"]) == ((7, 0) if item["source"][0] < 2000 else (8, 3))
        assert data.size(index) == (len(item["source"]), len(item["target"]))
        assert data.num_tokens(index) == max(data.size(index)) == data.num_tokens_vec(np.array([index]))[0]


def test_a_batch_is_padded_at_the_end_and_the_decoder_reads_what_came_before():
    data = mixed()
    batch = data.collater([data[i] for i in (0, 31, 4, 33)])
    net = batch["net_input"]
    for row, index in enumerate((0, 31, 4, 33)):
        item = data[index]
        length = net["src_lengths"][row]
        assert net["src_tokens"][row, :length].tolist() == item["source"].tolist()
        assert net["src_tokens"][row, length:].eq(PAD).all()
        tags = item["target"].tolist()
        assert batch["target"][row, : len(tags)].tolist() == tags
        assert net["prev_output_tokens"][row, : len(tags)].tolist() == [EOS, *tags[:-1]]
        assert batch["target"][row, len(tags) :].eq(PAD).all()
    assert batch["pair"].tolist() == [7, 8, 7, 8]
    assert net["target_languages"].tolist() == [0, 3, 0, 3]
    assert batch["ntokens"] == batch["target"].ne(PAD).sum()
    assert data.collater([]) == {}


def test_validation_takes_every_sentence_once_by_length():
    data = mixed()
    assert sorted(epoch(data, 1)) == list(range(35))
    assert epoch(data, 1) == epoch(data, 2)
    sizes = data.source_sizes[epoch(data, 1)]
    assert (np.diff(sizes) >= 0).all()
    assert data.can_reuse_epoch_itr_across_epochs


def test_temperature_one_is_every_sentence_once_in_another_order_each_epoch():
    data = mixed(Sampling(1.0, 0, seed=1))
    assert sorted(epoch(data, 1)) == sorted(epoch(data, 2)) == list(range(35))
    assert epoch(data, 1) != epoch(data, 2)
    assert not data.can_reuse_epoch_itr_across_epochs


def test_an_epoch_depends_on_its_number_and_the_seed_alone():
    first = mixed(Sampling(3.0, 0, seed=1))
    for number in (1, 2, 3):
        last = epoch(first, number)
    assert last == epoch(mixed(Sampling(3.0, 0, seed=1)), 3)
    assert last != epoch(mixed(Sampling(3.0, 0, seed=2)), 3)


def test_temperature_raises_the_small_pair_and_draws_anew():
    data = mixed(Sampling(1e6, 0, seed=1))
    drawn = [Counter(epoch(data, number)) for number in (1, 2)]
    for counts in drawn:
        of_small = [counts[i] for i in range(30, 35)]
        assert sum(counts.values()) == 35
        assert sum(of_small) in (17, 18)
        assert max(of_small) - min(of_small) <= 1
        assert all(counts[i] <= 1 for i in range(30))
    assert set(drawn[0]) != set(drawn[1])


def test_some_sentences_of_each_pair_are_the_same_in_all_epochs():
    data = mixed(Sampling(1.0, 4, seed=1))
    kept = [set(epoch(data, number)) for number in (1, 2)]
    assert kept[0] == kept[1]
    assert sum(i < 30 for i in kept[0]) == sum(i >= 30 for i in kept[0]) == 4
    assert kept[0] != set(epoch(mixed(Sampling(1.0, 4, seed=2)), 1))
    assert len(epoch(mixed(Sampling(1.0, 99, seed=1)), 1)) == 35


def test_a_share_of_the_epoch_has_its_own_tags_and_the_temperature_parts_both():
    data = mixed(Sampling(1e6, own_share=0.25), sizes=(40, 8, 30, 2), own=(1, 3))
    drawn = np.searchsorted([40, 48, 78], epoch(data, 1), side="right")
    assert Counter(drawn.tolist()) == {0: 30, 1: 10, 2: 30, 3: 10}


def test_batches_of_one_pair_have_the_same_sentences_pair_by_pair():
    mixture, sorted_by_pair = (mixed(Sampling(2.0, by_pair=by_pair), sizes=(20, 9, 14)) for by_pair in (False, True))
    indices = np.array(epoch(sorted_by_pair, 2))
    assert sorted(indices.tolist()) == sorted(epoch(mixture, 2))
    pairs = np.searchsorted([20, 29], indices, side="right")
    assert (np.diff(pairs) >= 0).all()
    for pair in range(3):
        assert (np.diff(sorted_by_pair.source_sizes[indices[pairs == pair]]) >= 0).all()


@given(st.floats(0.01, 0.99), st.lists(st.integers(1, 20), min_size=2, max_size=6))
def test_the_share_is_met_to_a_sentence(share, sizes):
    data = mixed(Sampling(2.0, own_share=share), sizes, own=(0,))
    drawn = np.array(epoch(data, 1))
    assert len(drawn) == sum(sizes)
    assert abs((drawn < sizes[0]).sum() - share * sum(sizes)) <= 0.5


@pytest.mark.parametrize("limits", [(3, 3), (2, 6)])
def test_long_sentences_are_left_out_by_either_side(limits):
    data = mixed()
    kept, ignored = data.filter_indices_by_size(np.arange(35), limits)
    fits = [all(a <= b for a, b in zip(data.size(i), limits, strict=True)) for i in range(35)]
    assert kept.tolist() == [i for i in range(35) if fits[i]]
    assert sorted(ignored) == [i for i in range(35) if not fits[i]]
    assert ignored


# --- shares of pairs in an epoch ---

SIZES = st.lists(st.integers(1, 10**7), min_size=1, max_size=30)


@given(SIZES)
def test_temperature_one_keeps_every_sentence(sizes):
    assert apportion(sizes, 1.0).tolist() == sizes


@given(SIZES, st.floats(0.05, 1e6))
def test_shares_are_the_powers_to_the_next_whole_number(sizes, temperature):
    counts = apportion(sizes, temperature)
    assert counts.sum() == sum(sizes)
    powers = (np.array(sizes) / max(sizes)) ** (1 / temperature)
    exact = sum(sizes) * powers / powers.sum()
    assert np.abs(counts - exact).max() < 1 + 1e-6 * sum(sizes)
    assert (counts >= 0).all()


def test_a_high_temperature_makes_pairs_equal():
    assert apportion([1000, 10, 10], 1e9).tolist() == [340, 340, 340]
    assert apportion([9, 1], 2.0).tolist() == [8, 2]  # 7.5 and 2.5: the first of equals has more


@pytest.mark.parametrize(("count", "least", "most"), [(0, 0, 0), (4, 0, 1), (7, 1, 1), (17, 2, 3)])
def test_rows_are_repeated_only_when_all_were_taken(count, least, most):
    found = draw(np.arange(50, 57), count, np.random.default_rng(1))
    times = np.bincount(found - 50, minlength=7)
    assert (len(found), times.min(), times.max()) == (count, least, most)
