"""Every classifier: padding and company do not matter, words and all parameters do."""

from __future__ import annotations

import pytest
import torch
from pair_classifiers import CLASSIFIERS, made, scores

SYMMETRIC = ("manhattan", "conv_absolute")


@pytest.mark.parametrize("name", CLASSIFIERS)
def test_neither_padding_nor_other_pairs_matter(name, sentences):
    classifier = made(name)
    left, right = sentences[:3], sentences[3:]
    alone = torch.cat([scores(classifier, [a], [b]) for a, b in zip(left, right, strict=True)])
    assert alone.shape == (3,)
    torch.testing.assert_close(scores(classifier, left, right), alone)
    torch.testing.assert_close(scores(classifier, left, right, extra=5), alone)


@pytest.mark.parametrize("name", CLASSIFIERS)
def test_words_matter(name, sentences):
    classifier = made(name)
    other = [sentences[0] + 1]
    assert not torch.allclose(
        scores(classifier, sentences[:1], sentences[3:4]), scores(classifier, other, sentences[3:4])
    )


@pytest.mark.parametrize("name", CLASSIFIERS)
def test_the_order_of_the_sentences(name, sentences):
    classifier = made(name)
    there, back = (scores(classifier, sentences[:3], sentences[3:]), scores(classifier, sentences[3:], sentences[:3]))
    assert torch.allclose(there, back) == (name in SYMMETRIC)


@pytest.mark.parametrize("name", CLASSIFIERS)
def test_every_parameter_learns(name, sentences):
    classifier = made(name).train()
    scores(classifier, sentences[:3], sentences[3:]).pow(2).sum().backward()
    still = [n for n, p in classifier.named_parameters() if p.grad is None or not p.grad.abs().sum() > 0]
    assert not still


@pytest.mark.parametrize("name", CLASSIFIERS)
def test_a_batch_of_one_trains(name, sentences):
    assert torch.isfinite(scores(made(name).train(), sentences[:1], sentences[1:2])).all()
