"""Scores of predicted vectors: the temperature, the words' prior and the penalty of hubs."""

import numpy as np
import torch
from tiny_models import LENGTHS, PREVIOUS, SOURCE
from tiny_models import lstm as build


def test_temperature_reaches_a_cosine(task, vectors):
    model = build(task, vectors, decode_score="cosine", decode_csls_weight=0.0)
    pred, extra = model(SOURCE, LENGTHS, PREVIOUS)
    plain = model.get_normalized_probs((pred, extra), log_probs=True)
    soft = model.get_normalized_probs((pred / 4, extra), log_probs=True)
    model.decoder.scorer.scale /= 4
    expected = model.get_normalized_probs((pred, extra), log_probs=True)
    assert torch.allclose(soft, expected, atol=1e-5)
    assert not torch.allclose(soft, plain, atol=1e-2)


def test_prior_and_hub_options_change_scores_as_documented(task, vectors):
    plain, prior = build(task, vectors), build(task, vectors, decode_prior_weight=0.5)
    output = plain(SOURCE, LENGTHS, PREVIOUS)
    gain = prior.get_normalized_probs(output, True) - plain.get_normalized_probs(output, True)
    first, last = (task.target_dictionary.index(w) for w in ("w0", "w12"))
    assert torch.allclose(gain[..., first] - gain[..., last], torch.tensor(0.5 * np.log(13.0)).float(), atol=1e-4)
    hubs = build(task, vectors, decode_csls_weight=1.0)
    loss = hubs.get_normalized_probs(output, True) - plain.get_normalized_probs(output, True)
    from fairseq_xl.losses import hubness

    density = hubness(plain.decoder.targets)
    assert loss[0, 0, 4:].argmin() == density[4:].argmax()


def test_a_prior_and_a_learnt_bias_both_count(task, vectors):
    plain, both = (build(task, vectors, word_bias=True, decode_prior_weight=weight) for weight in (0.0, 0.5))
    bias = torch.linspace(-1, 1, len(task.target_dictionary))
    for model in (plain, both):
        model.decoder.targets.bias.data.copy_(bias)
    prior = build(task, vectors, decode_prior_weight=0.5).decoder
    expected = prior.scorer.word_bonus(prior.targets) + bias
    assert torch.equal(both.decoder.scorer.word_bonus(both.decoder.targets), expected)
    assert torch.equal(plain.decoder.scorer.word_bonus(plain.decoder.targets), bias)
