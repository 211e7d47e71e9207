"""Classifiers that compare two sentences' vectors."""

from __future__ import annotations

import pytest
import torch
from pair_classifiers import DIM, made, padded, scores
from torch import nn

from fairseq_xl.pairs.models.siamese import NEAREST, BatchNorm, FeatureClassifier


def test_manhattan_probability(sentences):
    classifier = made("manhattan")
    left, right = sentences[1].unsqueeze(0), sentences[2].unsqueeze(0)
    states = [classifier.encoder.lstm(words)[0][0, -1] for words in (left, right)]
    expected = torch.exp(-(states[0] - states[1]).abs().sum()).float()
    torch.testing.assert_close(scores(classifier, sentences[1:2], sentences[2:3]).sigmoid()[0], expected)


def test_manhattan_of_equal_sentences_is_finite(sentences):
    found = scores(made("manhattan"), sentences[:1], sentences[:1]).sigmoid()
    torch.testing.assert_close(found[0], torch.exp(torch.tensor(-NEAREST)))


def test_features_are_compared_by_difference_and_product(sentences):
    classifier = made("conv_lstm_bilstm")
    a, b = (classifier.encode(*padded([s])) for s in sentences[:2])
    assert a.shape == (1, 5 * 4)  # three convolutions, an LSTM, a BiLSTM
    expected = classifier.decide(torch.cat([a - b, a * b], 1))[0]
    torch.testing.assert_close(scores(classifier, sentences[:1], sentences[1:2]), expected)


def test_batch_norm_of_several_is_torch_s():
    ours, theirs = BatchNorm(3), nn.BatchNorm1d(3)
    x = torch.randn(4, 3)
    torch.testing.assert_close(ours(x), theirs(x))
    torch.testing.assert_close(ours.running_mean, theirs.running_mean)


def test_unknown_parts_are_refused():
    with pytest.raises(ValueError, match="extractors are conv, lstm, bilstm, not gru"):
        FeatureClassifier(DIM, ("conv", "gru"), 4, 7)
    with pytest.raises(ValueError, match="signed or absolute"):
        FeatureClassifier(DIM, ("conv",), 4, 7, "squared")
