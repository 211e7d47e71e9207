"""Scores over the vocabulary against brute force."""

import pytest
import torch
import torch.nn.functional as F
from torch.profiler import ProfilerActivity, profile

from fairseq_xl.losses import (
    SCORES,
    FrozenTable,
    Scoring,
    hubness,
    log_scores,
    nearest,
    top_of,
    top_words,
    vmf_log_normalizer,
)
from fairseq_xl.losses.scores import word_logits


@pytest.fixture
def scene():
    torch.manual_seed(0)
    table = F.normalize(torch.randn(40, 7), dim=-1)
    banned = torch.zeros(40, dtype=torch.bool)
    banned[[0, 1, 39]] = True
    return torch.randn(3, 5, 7) * 4, FrozenTable(table, banned)


def cosines(pred, table):
    return F.cosine_similarity(pred.unsqueeze(-2), table, dim=-1)


@pytest.mark.parametrize(
    "score",
    [lambda p, t: log_scores(p, t, Scoring()), lambda p, t: top_words(p, t, 1, Scoring()), nearest],
    ids=["log_scores", "top_words", "nearest"],
)
def test_predictions_of_another_size_are_refused(scene, score):
    _, targets = scene
    with pytest.raises(ValueError, match="predictions of 6 numbers do not fit a table whose vectors have 7: end the"):
        score(torch.ones(3, 6), targets)


def test_cosine_is_a_softmax_of_scaled_cosines(scene):
    pred, targets = scene
    logits = (12.0 * cosines(pred, targets.table)).masked_fill(targets.banned, -torch.inf)
    scores = log_scores(pred, targets, Scoring("cosine", scale=12.0))
    assert torch.allclose(scores, logits.log_softmax(-1), atol=1e-5)


def test_vmf_posterior_is_a_distribution_sharpened_by_kappa(scene):
    pred, targets = scene
    logits = (pred @ targets.table.t()).masked_fill(targets.banned, -torch.inf)
    scores = log_scores(pred, targets, Scoring("vmf_posterior"))
    assert torch.allclose(scores, logits.log_softmax(-1), atol=1e-5)
    assert torch.allclose(scores.exp().sum(-1), torch.ones(3, 5))


def test_vmf_density_is_the_density(scene):
    pred, targets = scene
    scores = log_scores(pred, targets, Scoring("vmf_density"))
    expected = vmf_log_normalizer(pred.norm(dim=-1), 7).unsqueeze(-1) + pred @ targets.table.t()
    assert torch.allclose(scores[..., ~targets.banned], expected[..., ~targets.banned], atol=1e-4)
    assert (scores[..., targets.banned] == -torch.inf).all()


@pytest.mark.parametrize("score", SCORES)
def test_every_score_ranks_by_cosine(scene, score):
    pred, targets = scene
    ranking = cosines(pred, targets.table).masked_fill(targets.banned, -torch.inf).argmax(-1)
    assert torch.equal(log_scores(pred, targets, Scoring(score)).argmax(-1), ranking)


@pytest.mark.parametrize("score", SCORES)
def test_temperature_softens(scene, score):
    pred, targets = scene
    ours = log_scores(pred, targets, Scoring(score, temperature=2.0))
    expected = log_scores(pred / 2 if score != "cosine" else pred, targets, Scoring(score, scale=10.0))
    assert torch.allclose(ours, expected, atol=1e-5)


def test_penalty_and_bonus_move_words(scene):
    pred, targets = scene
    penalty, bonus = torch.rand(40), torch.rand(40)
    logits = 20 * (cosines(pred, targets.table) - penalty) + bonus
    scores = log_scores(pred, targets, Scoring(penalty=penalty, bonus=bonus))
    expected = logits.masked_fill(targets.banned, -torch.inf).log_softmax(-1)
    assert torch.allclose(scores, expected, atol=1e-4)


def test_zero_prediction_scores_every_word_alike(scene):
    _, targets = scene
    for score in ("cosine", "vmf_posterior"):
        scores = log_scores(torch.zeros(1, 7), targets, Scoring(score))
        assert torch.allclose(scores[:, ~targets.banned].exp(), torch.tensor(1 / 37))


def test_unknown_score_is_refused():
    with pytest.raises(ValueError, match="'euclid'"):
        Scoring("euclid")


@pytest.mark.parametrize("chunk", [1, 100, 2**24])
def test_nearest_agrees_with_brute_force_in_any_chunks(scene, chunk):
    pred, targets = scene
    pred = pred.reshape(-1, 7)
    found, words = nearest(pred, targets, 3, chunk)
    expected = cosines(pred, targets.table).masked_fill(targets.banned, -torch.inf).topk(3, dim=-1)
    assert torch.equal(words, expected.indices)
    assert torch.allclose(found, expected.values, atol=1e-5)


def test_nearest_of_nothing(scene):
    _, targets = scene
    found, words = nearest(torch.zeros(0, 7), targets, 2)
    assert found.shape == words.shape == (0, 2)


def test_hubness_is_the_mean_similarity_to_other_words():
    table = F.normalize(torch.tensor([[1.0, 0.0], [1.0, 0.1], [1.0, -0.1], [-1.0, 0.0]]), dim=-1)
    hubs = hubness(FrozenTable(table), k=2)
    assert hubs[0] == pytest.approx((table[0] @ table[1] + table[0] @ table[2]).item() / 2)
    assert hubs.argmax() == 0
    assert hubs.argmin() == 3


RULES = [
    Scoring("cosine", scale=12.0),
    Scoring("vmf_posterior", penalty=torch.linspace(0, 1, 40)),
    Scoring("vmf_density", bonus=torch.linspace(-3, 0, 40)),
]


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("chunk", [1, 100, 2**22])
@pytest.mark.parametrize("reserved", [0, 4])
def test_top_words_are_the_best_of_all_scores(scene, rule, chunk, reserved):
    pred, targets = scene
    pred = pred.reshape(-1, 7)
    best = top_words(pred, targets, 6, rule, reserved, chunk)
    scores = log_scores(pred, targets, rule)
    scores[:, :reserved] = -torch.inf
    expected = scores.topk(6, dim=1)
    assert torch.equal(best.words, expected.indices)
    assert torch.allclose(best.log_scores, expected.values, atol=2e-5)


@pytest.mark.parametrize("rule", RULES)
def test_top_of_all_words_is_top_words(scene, rule):
    pred, targets = scene
    pred = pred.reshape(-1, 7)
    words = (~targets.banned).nonzero().squeeze(1).expand(len(pred), -1)
    words = words[:, words[0] >= 4]
    some = torch.cat([words, torch.full((len(pred), 2), -1)], 1)
    ours = top_of(pred, targets, some, 6, rule, reserved=0)
    assert torch.equal(ours.words, top_words(pred, targets, 6, rule, 4).words)
    logits = word_logits(*rule.unit_and_sharpness(pred), targets, words, rule)
    if rule.score != "vmf_density":
        assert torch.allclose(ours.log_scores, logits.log_softmax(-1).topk(6).values, atol=2e-5)


def test_duplicates_and_near_ties_lose_nothing():
    """Equal rows share the places, whatever the order; rows a rounding error apart keep their scores."""
    generator = torch.Generator().manual_seed(1)
    few = F.normalize(torch.randn(5, 16, generator=generator), dim=-1)
    close = F.normalize(few + 1e-6 * torch.randn(5, 16, generator=generator), dim=-1)
    table = torch.cat([few, few, close, few])
    targets = FrozenTable(table)
    pred = 3 * torch.randn(50, 16, generator=generator)
    dense = log_scores(pred, targets, Scoring()).topk(7, dim=1)
    for chunk in (1, 400, 2**22):
        top = top_words(pred, targets, 7, Scoring(), chunk_elements=chunk)
        assert torch.allclose(top.log_scores, dense.values, atol=2e-5)
        assert all(len(set(row)) == 7 for row in top.words.tolist())
    assert torch.allclose(
        nearest(pred, targets, 7)[0],
        F.cosine_similarity(pred.unsqueeze(1), table, dim=-1).topk(7, dim=1).values,
        atol=1e-5,
    )


def test_log_scores_make_one_buffer_of_their_size():
    """By torch's own count of what it allocates: one buffer and a block of 2²⁰ scores, a fifth of it here."""
    table = F.normalize(torch.randn(20_000, 4), dim=-1)
    targets = FrozenTable(table)
    pred = torch.randn(256, 4)
    with profile(activities=[ProfilerActivity.CPU], profile_memory=True) as trace:
        scores = log_scores(pred, targets, Scoring())
    held = peak = 0
    for event in trace.profiler.kineto_results.events():
        if event.name() == "[memory]":
            held += event.nbytes()
            peak = max(peak, held)
    size = 4 * scores.numel()
    assert held == pytest.approx(size, rel=0.01)
    assert peak < 1.25 * size


def test_a_table_with_hardly_any_words():
    """Fewer words than neighbours are asked for: banned rows are none of them."""
    torch.manual_seed(0)
    table, banned = F.normalize(torch.randn(16, 7), dim=-1), torch.ones(16, dtype=torch.bool)
    banned[3:7] = False
    targets = FrozenTable(table, banned)
    cosines, words = nearest(torch.randn(5, 7), targets, 10)
    assert cosines.shape == words.shape == (5, 4)
    assert sorted(words[0].tolist()) == [3, 4, 5, 6]
    hubs = hubness(targets)
    among = table[3:7] @ table[3:7].t()
    assert torch.allclose(hubs[3:7], (among.sum(1) - among.diagonal()) / 3, atol=1e-6)
    assert (hubs[banned] == 0).all()
    banned[4:7] = True
    assert (hubness(FrozenTable(table, banned)) == 0).all(), "the only word has no neighbour"


def test_special_tokens_that_are_banned_weigh_nothing_among_some_words(scene):
    pred, targets = scene
    pred = pred.flatten(0, 1)
    every = torch.arange(4, 39).expand(len(pred), -1)
    some, whole = (
        make(pred, targets, *words, 5, Scoring("vmf_posterior"), reserved=4)
        for make, words in ((top_of, (every,)), (top_words, ()))
    )
    assert torch.equal(some.words, whole.words)
    assert torch.allclose(some.shift, whole.shift, atol=1e-5)


def test_what_an_index_did_not_find_is_a_word_all_the_same():
    targets = FrozenTable(F.normalize(torch.randn(6, 4, generator=torch.Generator().manual_seed(0)), dim=-1))
    found = top_of(torch.ones(1, 4), targets, torch.tensor([[2, -1, -1]]), 3, Scoring())
    assert found.words.tolist() == [[2, 0, 0]]
    assert found.log_scores[0, 1:].isneginf().all()


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
def test_autocast_changes_no_score(dtype):
    """Words in a crowd: half precision does not tell them apart."""
    random = torch.Generator().manual_seed(0)
    targets = FrozenTable(F.normalize(3 + torch.randn(200, 16, generator=random), dim=-1))
    pred, some = torch.randn(50, 16, generator=random), torch.arange(20).expand(50, -1)
    calls = [
        lambda: log_scores(pred, targets, Scoring()),
        lambda: nearest(pred, targets, 3),
        lambda: top_words(pred, targets, 3, Scoring("vmf_posterior"))[:2],
        lambda: top_of(pred, targets, some, 3, Scoring())[:2],
    ]
    for call in calls:
        expected = call()
        with torch.autocast("cpu", dtype=dtype):
            found = call()
        for one, other in zip(
            *[each if isinstance(each, tuple) else [each] for each in (found, expected)], strict=True
        ):
            assert one.dtype == other.dtype
            assert torch.equal(one, other)
