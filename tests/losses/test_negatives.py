"""Negatives: unit length, detached, and where the paper puts them."""

import pytest
import torch
import torch.nn.functional as F

from fairseq_xl.losses import negatives


def unit_rows(n, d, seed=0):
    generator = torch.Generator().manual_seed(seed)
    return F.normalize(torch.randn(n, d, generator=generator, dtype=torch.float64), dim=-1)


@pytest.fixture
def rows():
    pred = (unit_rows(20, 8, 1) * 3).requires_grad_()
    return pred, unit_rows(20, 8, 2)


def test_projection_is_the_orthogonal_part(rows):
    pred, target = rows
    negative = negatives.projection(pred, target)
    unit = F.normalize(pred.detach(), dim=-1)
    cosine = (unit * target).sum(-1, keepdim=True)
    sine = (1 - cosine**2).sqrt()
    assert not negative.requires_grad
    assert torch.allclose((negative * target).sum(-1), torch.zeros(20, dtype=torch.float64), atol=1e-15)
    assert torch.allclose(cosine * target + sine * negative, unit)


def test_difference_points_from_target_to_prediction(rows):
    pred, target = rows
    negative = negatives.difference(pred, target)
    unit = F.normalize(pred.detach(), dim=-1)
    assert not negative.requires_grad
    assert torch.allclose(negative, F.normalize(unit - target, dim=-1))


@pytest.mark.parametrize("make", [negatives.projection, negatives.difference])
def test_no_direction_gives_zero(make):
    target = unit_rows(3, 5).float()
    pred = torch.stack([torch.zeros(5), target[1] * 7, target[2] * 0.01])
    assert torch.equal(make(pred, target), torch.zeros(3, 5))


def test_uniform_never_draws_the_target_and_is_uniform():
    table, index = torch.eye(5), torch.tensor([2, 0])
    drawn = negatives.uniform(table, index, 8000, torch.Generator().manual_seed(3))
    counts = drawn.sum(1)
    assert counts[0, 2] == 0
    assert counts[1, 0] == 0
    others = counts[0][torch.tensor([0, 1, 3, 4])]
    assert (others - 2000).abs().max() < 200


def test_uniform_draws_candidates_only():
    table, candidates = torch.eye(6), torch.tensor([1, 3, 4])
    drawn = negatives.uniform(table, torch.tensor([3, 0]), 3000, candidates=candidates).sum(1)
    assert (drawn[0] > 0).tolist() == [False, True, False, False, True, False]
    assert (drawn[1] > 0).tolist() == [False, True, False, True, True, False]
    assert (drawn[1][candidates] - 1000).abs().max() < 150


def test_uniform_repeats_with_its_generator():
    table, index = unit_rows(50, 4), torch.arange(10)
    draws = [negatives.uniform(table, index, 3, torch.Generator().manual_seed(5)) for _ in range(2)]
    assert torch.equal(*draws)


def test_uniform_needs_another_word():
    with pytest.raises(ValueError, match="at least 2 words"):
        negatives.uniform(torch.eye(1), torch.zeros(1, dtype=torch.long), 1)


@pytest.mark.parametrize("chunk", [1, 60, 2**24])
def test_most_informative_is_nearest_to_the_difference(rows, chunk):
    pred, _ = rows
    table = unit_rows(30, 8, 4)
    index = torch.arange(20)
    target = table[index]
    chosen = negatives.most_informative(pred, target, table, index, chunk_elements=chunk)
    direction = F.normalize(pred.detach(), dim=-1) - target
    for i in range(20):
        others = [j for j in range(30) if j != i]
        best = max(others, key=lambda j: F.cosine_similarity(direction[i], table[j], dim=0))
        assert torch.equal(chosen[i], table[best])


def test_most_informative_never_takes_a_banned_row(rows):
    pred, _ = rows
    table, index = unit_rows(30, 8, 4), torch.arange(20)
    banned = torch.tensor([b for b in range(30) if b not in (5, 6, 7)])
    chosen = negatives.most_informative_rows(pred, table[index], table, index, banned)
    assert set(chosen.tolist()) <= {5, 6, 7}


@pytest.mark.parametrize("crowd", [1e-5, 1e-3, 1])
def test_search_in_halves_finds_the_same(crowd):
    """Also where float16 cannot tell the table's rows apart, so that many rows must be searched again."""
    generator = torch.Generator().manual_seed(6)
    centre = torch.randn(12, generator=generator)
    table = F.normalize(centre + crowd * torch.randn(400, 12, generator=generator), dim=-1)
    index = torch.randint(400, (60,), generator=generator)
    pred = torch.randn(60, 12, generator=generator)
    banned = torch.tensor([0, 1, 17])
    full, halves = (
        negatives.most_informative_rows(pred, table[index], table, index, banned, chunk_elements=4000, half=half)
        for half in (False, True)
    )
    direction = F.normalize(pred, dim=-1).double() - table[index]
    reached, best = ((direction * table[found]).sum(-1) for found in (halves, full))
    assert torch.allclose(reached, best, rtol=0, atol=1e-6)
    assert not set(halves.tolist()) & {0, 1, 17}
    assert (halves != index).all()
