"""The contrastive loss by tags, against counts by hand and a reference in float64."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from fairseq_xl.syntactic.models.contrast import tag_contrast, tag_similarity

PAD = 1
SENTENCES = st.lists(st.lists(st.integers(2, 7), min_size=1, max_size=6), min_size=1, max_size=6)


def padded(sentences):
    longest = max(map(len, sentences))
    return torch.tensor([sentence + [PAD] * (longest - len(sentence)) for sentence in sentences])


def grams(sentence, longest=3):
    return Counter(
        tuple(sentence[start : start + n]) for n in range(1, longest + 1) for start in range(len(sentence) - n + 1)
    )


def cosine(one, other):
    product = sum(count * other[gram] for gram, count in one.items())
    return product / np.sqrt(sum(c * c for c in one.values()) * sum(c * c for c in other.values()))


@settings(deadline=None, max_examples=50)
@given(SENTENCES)
def test_similarity_is_that_of_counted_grams(sentences):
    found = tag_similarity(padded(sentences), PAD)
    wanted = [[cosine(grams(one), grams(other)) for other in sentences] for one in sentences]
    np.testing.assert_allclose(found, wanted, atol=1e-5)


def test_order_counts():
    same, turned, other = tag_similarity(torch.tensor([[2, 3, 4], [2, 3, 4], [4, 3, 2], [5, 6, 7]]), PAD)[0][1:]
    assert same == pytest.approx(1, abs=1e-6)
    assert other == 0
    assert 0 < turned < 1


def reference(vectors, similarity, temperature):
    vectors = vectors.double().numpy()
    unit = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    total = 0.0
    for i in range(len(unit)):
        others = [j for j in range(len(unit)) if j != i]
        wanted = np.exp(np.array([similarity[i, j] for j in others], dtype=float) / temperature)
        found = np.exp(unit[others] @ unit[i] / temperature)
        wanted, found = wanted / wanted.sum(), found / found.sum()
        total += float(np.sum(wanted * np.log(wanted / found)))
    return total / len(unit)


@settings(deadline=None, max_examples=50)
@given(st.integers(2, 6), st.integers(0, 2**31), st.sampled_from([0.05, 0.1, 1.0]))
def test_loss_is_the_divergence_of_shares(count, seed, temperature):
    generator = torch.Generator().manual_seed(seed)
    vectors = torch.randn(count, 4, generator=generator)
    similarity = torch.rand(count, count, generator=generator)
    found = tag_contrast(vectors, similarity, temperature)
    assert float(found) == pytest.approx(reference(vectors, similarity, temperature), rel=1e-4, abs=1e-5)
    # neither the length of vectors nor the similarity of a sentence to itself matters
    alike = similarity + torch.eye(count)
    torch.testing.assert_close(tag_contrast(3 * vectors, alike, temperature), found, atol=1e-5, rtol=1e-4)


def test_gradients_bring_sentences_of_like_tags_together():
    torch.manual_seed(1)
    similarity = tag_similarity(torch.tensor([[2, 3], [2, 3], [4, 5], [4, 5]]), PAD)
    vectors = torch.randn(4, 8, dtype=torch.float64, requires_grad=True)
    assert torch.autograd.gradcheck(lambda v: tag_contrast(v, similarity, 0.5), vectors)
    optimizer = torch.optim.Adam([vectors], lr=0.05)
    for _ in range(200):
        optimizer.zero_grad()
        loss = tag_contrast(vectors, similarity, 0.1)
        loss.backward()
        optimizer.step()
    unit = torch.nn.functional.normalize(vectors.detach(), dim=1)
    cosines = unit @ unit.t()
    assert cosines[0, 1] > cosines[0, 2:].max() + 0.5
    assert float(loss.detach()) < 0.01


def test_a_single_sentence_has_no_neighbour():
    vectors = torch.randn(1, 4, requires_grad=True)
    loss = tag_contrast(vectors, torch.ones(1, 1), 0.1)
    loss.backward()
    assert float(loss.detach()) == 0
    assert float(vectors.grad.abs().max()) == 0
