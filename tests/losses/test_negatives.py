"""Negatives: unit length, detached, and where the paper puts them."""

import pytest
import torch
import torch.nn.functional as F

from fairseq_xl.losses import (
    FrozenTable,
    Proposal,
    difference,
    in_batch_negative_words,
    most_informative_negative_words,
    projection,
    uniform_negative_words,
)


def unit_rows(n, d, seed=0):
    generator = torch.Generator().manual_seed(seed)
    return F.normalize(torch.randn(n, d, generator=generator, dtype=torch.float64), dim=-1)


@pytest.fixture
def rows():
    pred = (unit_rows(20, 8, 1) * 3).requires_grad_()
    return pred, unit_rows(20, 8, 2)


def test_projection_is_the_orthogonal_part(rows):
    pred, target = rows
    negative = projection(pred, target)
    unit = F.normalize(pred.detach(), dim=-1)
    cosine = (unit * target).sum(-1, keepdim=True)
    sine = (1 - cosine**2).sqrt()
    assert not negative.requires_grad
    assert torch.allclose((negative * target).sum(-1), torch.zeros(20, dtype=torch.float64), atol=1e-15)
    assert torch.allclose(cosine * target + sine * negative, unit)


def test_difference_points_from_target_to_prediction(rows):
    pred, target = rows
    negative = difference(pred, target)
    unit = F.normalize(pred.detach(), dim=-1)
    assert not negative.requires_grad
    assert torch.allclose(negative, F.normalize(unit - target, dim=-1))


@pytest.mark.parametrize("make", [projection, difference])
def test_no_direction_gives_zero(make):
    target = unit_rows(3, 5).float()
    pred = torch.stack([torch.zeros(5), target[1] * 7, target[2] * 0.01])
    assert torch.equal(make(pred, target), torch.zeros(3, 5))


def drawn(targets, index, draws, generator=None):
    """How often each row was drawn for each target: (N, V)."""
    rows = uniform_negative_words(torch.tensor(index), targets, draws, generator)
    return torch.stack([torch.bincount(row, minlength=len(targets.table)) for row in rows])


def test_uniform_never_draws_the_target_and_is_uniform():
    counts = drawn(FrozenTable(torch.eye(5)), [2, 0], 8000, torch.Generator().manual_seed(3))
    assert counts[0, 2] == 0
    assert counts[1, 0] == 0
    others = counts[0][torch.tensor([0, 1, 3, 4])]
    assert (others - 2000).abs().max() < 200


def test_uniform_draws_no_banned_row():
    banned = torch.tensor([True, False, True, False, False, True])
    counts = drawn(FrozenTable(torch.eye(6), banned), [3, 0], 3000)
    assert (counts[0] > 0).tolist() == [False, True, False, False, True, False]
    assert (counts[1] > 0).tolist() == [False, True, False, True, True, False]
    assert (counts[1][~banned] - 1000).abs().max() < 150


def test_uniform_repeats_with_its_generator():
    targets, index = FrozenTable(unit_rows(50, 4)), torch.arange(10)
    assert torch.equal(*(uniform_negative_words(index, targets, 3, torch.Generator().manual_seed(5)) for _ in range(2)))


def test_a_negative_needs_another_word():
    index, targets = torch.zeros(1, dtype=torch.long), FrozenTable(torch.eye(1))
    with pytest.raises(ValueError, match="at least 2 words"):
        uniform_negative_words(index, targets, 1)
    with pytest.raises(ValueError, match="at least 2 words"):
        most_informative_negative_words(torch.ones(1, 1), index, targets)


@pytest.mark.parametrize("chunk", [1, 60, 2**24])
def test_most_informative_is_nearest_to_the_difference(rows, chunk):
    pred, _ = rows
    targets, index = FrozenTable(unit_rows(30, 8, 4)), torch.arange(20)
    chosen = most_informative_negative_words(pred, index, targets, chunk_elements=chunk)
    direction = F.normalize(pred.detach(), dim=-1) - targets(index)
    for i in range(20):
        others = [j for j in range(30) if j != i]
        assert chosen[i] == max(others, key=lambda j: F.cosine_similarity(direction[i], targets.table[j], dim=0))


def test_most_informative_never_takes_a_banned_row(rows):
    banned = torch.ones(30, dtype=torch.bool)
    banned[5:8] = False
    chosen = most_informative_negative_words(rows[0], torch.arange(20), FrozenTable(unit_rows(30, 8, 4), banned))
    assert set(chosen.tolist()) <= {5, 6, 7}


@pytest.mark.parametrize("crowd", [1e-5, 1e-3, 1])
def test_search_in_halves_finds_the_same(crowd):
    """Also where float16 cannot tell the table's rows apart, so that many rows must be searched again."""
    generator = torch.Generator().manual_seed(6)
    centre = torch.randn(12, generator=generator)
    table = F.normalize(centre + crowd * torch.randn(400, 12, generator=generator), dim=-1)
    index = torch.randint(400, (60,), generator=generator)
    pred = torch.randn(60, 12, generator=generator)
    banned = torch.zeros(400, dtype=torch.bool)
    banned[[0, 1, 17]] = True
    targets = FrozenTable(table, banned)
    full, halves = (
        most_informative_negative_words(pred, index, targets, chunk_elements=4000, half=half) for half in (False, True)
    )
    direction = F.normalize(pred, dim=-1).double() - table[index]
    reached, best = ((direction * table[found]).sum(-1) for found in (halves, full))
    assert torch.allclose(reached, best, rtol=0, atol=1e-6)
    assert not set(halves.tolist()) & {0, 1, 17}
    assert (halves != index).all()


def word_table():
    """Nine words, of which row 3 is never sampled."""
    return FrozenTable(torch.eye(9), torch.arange(9) == 3)


def test_draws_follow_the_weights_and_never_hold_banned_rows():
    targets = word_table()
    proposal = Proposal(targets.banned, torch.tensor([0, 1, 1, 100, 0, 0, 2, 0, 0]))
    generator = torch.Generator().manual_seed(0)
    counts = torch.zeros(9)
    for _ in range(2000):
        counts[proposal.draw(1, generator)] += 1
    assert counts[[0, 3, 4, 5, 7, 8]].sum() == 0
    assert torch.allclose(counts[[1, 2, 6]] / 2000, torch.tensor([0.25, 0.25, 0.5]), atol=0.04)
    words = torch.tensor([1, 6])
    assert torch.allclose(
        proposal.log_inclusion(words, 3).exp(), torch.tensor([1 - 0.75**3, 1 - 0.5**3], dtype=torch.float64)
    )


@pytest.mark.parametrize("weights", [[1.0, 2], [-1.0] + [1.0] * 8, [float("nan")] + [1.0] * 8, [0.0] * 9])
def test_weights_that_cannot_be_drawn_from_are_refused(weights):
    with pytest.raises(ValueError, match="a proposal needs"):
        Proposal(word_table().banned, torch.tensor(weights))


@pytest.mark.parametrize("dtype", [torch.float64, torch.float32, torch.bfloat16])
def test_the_most_informative_word_is_that_of_full_precision(dtype):
    """Predictions of another type than the table's, which is float32."""
    table = unit_rows(300, 16, 3).float()
    index = torch.arange(200)
    pred = (table[index] + 0.3 * unit_rows(200, 16, 4)).to(dtype)
    found = most_informative_negative_words(pred, index, FrozenTable(table))
    similarity = (F.normalize(pred.double(), dim=-1) - table[index].double()) @ table.double().t()
    similarity[torch.arange(200), index] = -torch.inf
    best = similarity.max(1)
    assert torch.allclose(similarity.gather(1, found[:, None])[:, 0], best.values, atol=1e-5)


def test_synthetic_negatives_of_half_precision_are_of_unit_length(rows):
    pred, target = (row.detach().bfloat16() for row in rows)
    for make in (projection, difference):
        assert make(pred, target).dtype == torch.float32
        assert torch.allclose(make(pred, target).norm(dim=-1), torch.ones(20), atol=1e-6)


@pytest.mark.parametrize("rows", [most_informative_negative_words, in_batch_negative_words])
def test_autocast_chooses_no_other_negatives(rows):
    random = torch.Generator().manual_seed(0)
    targets = FrozenTable(F.normalize(3 + torch.randn(200, 16, generator=random), dim=-1))
    pred, index = torch.randn(50, 16, generator=random), torch.arange(50)
    expected = rows(pred, index, targets)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        assert torch.equal(rows(pred, index, targets), expected)
