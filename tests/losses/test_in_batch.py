"""Negatives among the batch's own targets, against loops over its rows."""

import pytest
import torch
import torch.nn.functional as F
from hypothesis import given
from hypothesis import strategies as st

from fairseq_xl.losses import FrozenTable, InBatchLoss, in_batch_negative, in_batch_negative_words, margin

NEVER = 3  # a row of the table that is never predicted


def problem(n=20, vocabulary=12, d=5, seed=0):
    """With fewer words than rows, most words are the target of several rows."""
    generator = torch.Generator().manual_seed(seed)
    table = F.normalize(torch.randn(vocabulary, d, generator=generator, dtype=torch.float64), dim=-1)
    index = torch.randint(vocabulary, (n,), generator=generator)
    noise = torch.randn(n, d, generator=generator, dtype=torch.float64)
    pred = 3 * torch.rand(n, 1, generator=generator) * table[index] + noise
    banned = torch.zeros(vocabulary, dtype=torch.bool)
    banned[NEVER] = True
    return pred.requires_grad_(), index, FrozenTable(table, banned)


def by_loops(pred, index, targets, semi_hard):
    chosen, banned = [], targets.banned
    cosines = (F.normalize(pred, dim=-1) @ targets.table.t()).tolist()
    for cosine, target in zip(cosines, index.tolist(), strict=True):
        others = [w for w in index.tolist() if w != target and not banned[w]]
        farther = [w for w in others if cosine[w] < cosine[target]]
        if not others:
            chosen.append(target)
        elif semi_hard and not farther:
            chosen.append(min(others, key=cosine.__getitem__))
        else:
            chosen.append(max(farther if semi_hard else others, key=cosine.__getitem__))
    return chosen


@pytest.mark.parametrize("semi_hard", [False, True])
@pytest.mark.parametrize("chunk", [1, 37, 2**24])
@given(seed=st.integers(0, 10**6), n=st.integers(1, 20), vocabulary=st.integers(4, 30))
def test_the_choice_is_that_of_a_loop(semi_hard, chunk, seed, n, vocabulary):
    pred, index, targets = problem(n, vocabulary, seed=seed)
    chosen = in_batch_negative_words(pred, index, targets, semi_hard, chunk)
    assert chosen.tolist() == by_loops(pred, index, targets, semi_hard)


def test_the_batch_has_both_kinds_of_rows():
    """Or else the comparison above would not see the second branch of the semi-hard choice."""
    pred, index, targets = problem(n=200)
    cosines = F.normalize(pred, dim=-1) @ targets(index.unique()).t()
    nearest = cosines.min(1).values >= (F.normalize(pred, dim=-1) * targets(index)).sum(-1)
    assert nearest.any()
    assert not nearest.all()


@pytest.mark.parametrize("semi_hard", [False, True])
def test_loss_and_gradient_hold_the_negative_constant(semi_hard):
    pred, index, targets = problem()
    found = InBatchLoss(0.5, semi_hard).rows(pred, index, targets)
    plain = margin(pred, targets(index), targets(in_batch_negative_words(pred, index, targets, semi_hard)), 0.5)
    assert torch.allclose(found.loss, plain)
    ours, theirs = (torch.autograd.grad(x.sum(), pred)[0] for x in (found.loss, plain))
    assert torch.allclose(ours, theirs)
    assert torch.allclose(found.kappa, pred.norm(dim=-1))


def test_gradient_by_finite_differences():
    pred, index, targets = problem(n=6)
    assert torch.autograd.gradcheck(lambda p: in_batch_negative(p, index, targets), pred)


@pytest.mark.parametrize("semi_hard", [False, True])
@pytest.mark.parametrize("index", [[5], [5, 5, 5], [5, NEVER]])
def test_no_other_word_no_loss(semi_hard, index):
    pred, _, targets = problem(n=len(index))
    index = torch.tensor(index)
    loss = in_batch_negative(pred, index, targets, 0.5, semi_hard)
    loss.sum().backward()
    alone = index == 5
    assert (loss[alone] == 0).all()
    assert (pred.grad[alone] == 0).all()
    # the row whose target is never predicted has the other word as its negative
    negatives = in_batch_negative_words(pred, index, targets, semi_hard)
    assert (negatives == 5).all()


def test_no_rows():
    pred = torch.zeros(0, 5, requires_grad=True)
    none = torch.zeros(0, dtype=torch.long)
    loss = in_batch_negative(pred, none, FrozenTable(torch.eye(5)), semi_hard=True)
    loss.sum().backward()
    assert loss.shape == (0,)


def test_a_zero_prediction_and_half_precision():
    table, index = torch.eye(4), torch.tensor([0, 1, 2])
    pred = torch.stack([torch.zeros(4), table[1] * 1e-20, -table[2]]).bfloat16().requires_grad_()
    loss = in_batch_negative(pred, index, FrozenTable(table))
    loss.sum().backward()
    assert loss.dtype == torch.float32
    assert loss.tolist() == [0.5, 0.0, 1.5]
    assert pred.grad.isfinite().all()
