"""InferSent's sentence encoders word by word, and what it compares."""

from __future__ import annotations

import pytest
import torch
from pair_classifiers import DIM, made, padded, scores

from fairseq_xl.pairs.models.infersent import InferSent


def test_infersent_reads_a_sentence_word_by_word(sentences):
    """Max and mean over a BiLSTM's states; a BiGRU's two last states; four layers of windows of three words."""
    words = sentences[3]
    one, length = words.unsqueeze(1), torch.tensor([len(words)])
    for name in ("max", "mean"):
        classifier = made(f"infersent_bilstm_{name}")
        states = classifier.encoder.lstm(one, length)[0].squeeze(1)
        expected = states.amax(0) if name == "max" else states.mean(0)
        torch.testing.assert_close(classifier.encode(*padded([words]))[0], expected)
    gru = made("infersent_bigru_last")
    onwards = gru.encoder.forwards(words.unsqueeze(0))[1].flatten()
    back = gru.encoder.backwards(words.flip(0).unsqueeze(0))[1].flatten()
    torch.testing.assert_close(gru.encode(*padded([words]))[0], torch.cat([onwards, back]))
    conv = made("infersent_conv")
    layer, found = torch.cat([torch.zeros(1, DIM), words, torch.zeros(1, DIM)]).double(), []
    for filters in conv.encoder.layers:
        rows = torch.stack(
            [
                torch.relu(torch.einsum("fcw,wc->f", filters.weight, layer[t : t + 3]) + filters.bias)
                for t in range(len(words))
            ]
        )
        found.append(rows.amax(0))
        layer = torch.cat([torch.zeros(1, rows.shape[1]), rows, torch.zeros(1, rows.shape[1])]).double()
    torch.testing.assert_close(conv.encode(*padded([words]))[0], torch.cat(found))


def test_infersent_compares_in_four_ways(sentences):
    classifier = made("infersent_lstm_last")
    u, v = (classifier.encode(*padded([s])) for s in sentences[:2])
    expected = classifier.decide(torch.cat([u, v, (u - v).abs(), u * v], 1))[0]
    torch.testing.assert_close(scores(classifier, sentences[:1], sentences[1:2]), expected)


def test_unknown_parts_are_refused():
    with pytest.raises(ValueError, match="a sentence encoder is bilstm_max"):
        InferSent(DIM, 8, 7, "bert")
    with pytest.raises(ValueError, match="an activation is relu, sigmoid, tanh"):
        InferSent(DIM, 8, 7, activation="swish")
    with pytest.raises(ValueError, match="four layers share 6 features"):
        InferSent(DIM, 6, 7, "conv")
