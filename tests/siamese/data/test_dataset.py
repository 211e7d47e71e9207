"""Pairs drawn anew for each epoch, and batches in which a sentence stands once."""

from __future__ import annotations

import numpy as np
import pytest

from fairseq_xl.siamese.data.dataset import EpochPairs, Sentences
from fairseq_xl.siamese.data.directory import DataDirectory


@pytest.fixture
def sentences(data_directory):
    folder = DataDirectory(data_directory)
    corpora = [folder.corpus("train", side) for side in ("low", "high")]
    return Sentences(corpora, folder.dictionary.pad(), 30)


def draw(sentences, epoch, kinds=("low-high",)):
    pairs = EpochPairs(sentences, kinds, 2, 2, True, seed=7)
    pairs.set_epoch(epoch)
    return pairs


def test_pairs_are_of_the_sides_they_are_called(sentences):
    low = len(sentences.corpora[0])
    pairs = draw(sentences, 1, ("low-high", "high-high")).pairs
    first = slice(0, 4 * low)
    assert (pairs.left[first] < low).all()
    assert (pairs.right >= low).all()
    assert (pairs.left[4 * low :] >= low).all()
    np.testing.assert_array_equal(sentences.labels[pairs.left] == sentences.labels[pairs.right], pairs.same)


def test_an_epochs_pairs_depend_on_seed_and_epoch_alone(sentences):
    one, again, other = draw(sentences, 3), draw(sentences, 9), draw(sentences, 4)
    again.set_epoch(3)
    np.testing.assert_array_equal(one.pairs.right, again.pairs.right)
    np.testing.assert_array_equal(one.ordered_indices(), again.ordered_indices())
    assert (one.pairs.right != other.pairs.right).any()


def test_processes_share_each_epoch(sentences, assert_processes_share_each_epoch):
    assert_processes_share_each_epoch(lambda: draw(sentences, 1))


def test_a_batch_holds_each_sentence_once(sentences):
    data = draw(sentences, 1)
    rows = [data[i] for i in range(20)] * 2
    batch = data.collater(rows)
    assert len(batch["net_input"]["src_tokens"]) == len(batch["target"]) < 40
    for side in ("left", "right"):
        for place, (_, left, right, _) in zip(batch[side].tolist(), rows, strict=True):
            _, units, label = sentences[left if side == "left" else right]
            length = batch["net_input"]["src_lengths"][place]
            assert batch["net_input"]["src_tokens"][place, :length].tolist() == units.tolist()
            assert batch["target"][place] == label
    assert data.collater([]) == {}


def test_long_sentences_are_cut(data_directory):
    folder = DataDirectory(data_directory)
    sentences = Sentences([folder.corpus("train", "low")], folder.dictionary.pad(), 5)
    assert max(len(sentences[i][1]) for i in range(len(sentences))) == sentences.sizes.max() == 5


def test_validation_leaves_no_sentence_out(sentences):
    batches = sentences.batch_by_size(sentences.ordered_indices()[-6:], None, 64, 8)
    assert sorted(np.concatenate(batches)) == sorted(sentences.ordered_indices()[-6:])
