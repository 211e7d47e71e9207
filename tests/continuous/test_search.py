"""Scores over the vocabulary against brute force."""

import pytest
import torch
import torch.nn.functional as F

from fairseq_xl.continuous import search
from fairseq_xl.continuous.bessel import log_normalizer


@pytest.fixture
def scene():
    torch.manual_seed(0)
    table = F.normalize(torch.randn(40, 7), dim=-1)
    banned = torch.zeros(40, dtype=torch.bool)
    banned[[0, 1, 39]] = True
    return torch.randn(3, 5, 7) * 4, table, banned


def cosines(pred, table):
    return F.cosine_similarity(pred.unsqueeze(-2), table, dim=-1)


def test_cosine_is_a_softmax_of_scaled_cosines(scene):
    pred, table, banned = scene
    logits = (12.0 * cosines(pred, table)).masked_fill(banned, -torch.inf)
    scores = search.log_scores(pred, table, banned, "cosine", scale=12.0)
    assert torch.allclose(scores, logits.log_softmax(-1), atol=1e-5)


def test_vmf_posterior_is_a_distribution_sharpened_by_kappa(scene):
    pred, table, banned = scene
    logits = (pred @ table.t()).masked_fill(banned, -torch.inf)
    scores = search.log_scores(pred, table, banned, "vmf_posterior")
    assert torch.allclose(scores, logits.log_softmax(-1), atol=1e-5)
    assert torch.allclose(scores.exp().sum(-1), torch.ones(3, 5))


def test_vmf_density_is_the_density(scene):
    pred, table, banned = scene
    scores = search.log_scores(pred, table, banned, "vmf_density")
    expected = log_normalizer(pred.norm(dim=-1), 7).unsqueeze(-1) + pred @ table.t()
    assert torch.allclose(scores[..., ~banned], expected[..., ~banned], atol=1e-4)
    assert (scores[..., banned] == -torch.inf).all()


@pytest.mark.parametrize("score", search.SCORES)
def test_every_score_ranks_by_cosine(scene, score):
    pred, table, banned = scene
    ranking = cosines(pred, table).masked_fill(banned, -torch.inf).argmax(-1)
    assert torch.equal(search.log_scores(pred, table, banned, score).argmax(-1), ranking)


@pytest.mark.parametrize("score", search.SCORES)
def test_temperature_softens(scene, score):
    pred, table, banned = scene
    ours = search.log_scores(pred, table, banned, score, temperature=2.0)
    expected = search.log_scores(
        pred / 2 if score != "cosine" else pred, table, banned, score, scale=10.0
    )
    assert torch.allclose(ours, expected, atol=1e-5)


def test_penalty_and_bonus_move_words(scene):
    pred, table, banned = scene
    penalty, bonus = torch.rand(40), torch.rand(40)
    logits = 20 * (cosines(pred, table) - penalty) + bonus
    scores = search.log_scores(pred, table, banned, penalty=penalty, bonus=bonus)
    expected = logits.masked_fill(banned, -torch.inf).log_softmax(-1)
    assert torch.allclose(scores, expected, atol=1e-4)


def test_zero_prediction_scores_every_word_alike(scene):
    _, table, banned = scene
    for score in ("cosine", "vmf_posterior"):
        scores = search.log_scores(torch.zeros(1, 7), table, banned, score)
        assert torch.allclose(scores[:, ~banned].exp(), torch.tensor(1 / 37))


def test_unknown_score_is_refused(scene):
    with pytest.raises(ValueError, match="'euclid'"):
        search.log_scores(*scene, score="euclid")


@pytest.mark.parametrize("chunk", [1, 100, 2**24])
def test_nearest_agrees_with_brute_force_in_any_chunks(scene, chunk):
    pred, table, banned = scene
    pred = pred.reshape(-1, 7)
    found, words = search.nearest(pred, table, banned, 3, chunk)
    expected = cosines(pred, table).masked_fill(banned, -torch.inf).topk(3, dim=-1)
    assert torch.equal(words, expected.indices)
    assert torch.allclose(found, expected.values, atol=1e-5)


def test_nearest_of_nothing(scene):
    _, table, banned = scene
    found, words = search.nearest(torch.zeros(0, 7), table, banned, 2)
    assert found.shape == words.shape == (0, 2)


def test_hubness_is_the_mean_similarity_to_other_words():
    table = F.normalize(torch.tensor([[1.0, 0.0], [1.0, 0.1], [1.0, -0.1], [-1.0, 0.0]]), dim=-1)
    banned = torch.zeros(4, dtype=torch.bool)
    hubs = search.hubness(table, banned, k=2)
    assert hubs[0] == pytest.approx((table[0] @ table[1] + table[0] @ table[2]).item() / 2)
    assert hubs.argmax() == 0
    assert hubs.argmin() == 3
