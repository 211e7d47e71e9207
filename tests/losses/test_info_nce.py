"""The contrastive loss against the formula written as loops, with words that come more than once."""

import math

import pytest
import torch
import torch.nn.functional as F
from hypothesis import given
from hypothesis import strategies as st

from fairseq_xl.losses import FrozenTable, InfoNCELoss, info_nce

NEVER = 3  # a row of the table that is never predicted


def problem(n=12, vocabulary=8, d=5, seed=0, dtype=torch.float64):
    generator = torch.Generator().manual_seed(seed)
    table = F.normalize(torch.randn(vocabulary, d, generator=generator, dtype=torch.float64), dim=-1)
    index = torch.randint(vocabulary, (n,), generator=generator)
    pred = 3 * torch.randn(n, d, generator=generator, dtype=torch.float64)
    banned = torch.zeros(vocabulary, dtype=torch.bool)
    banned[NEVER] = True
    return pred.to(dtype).requires_grad_(), index, FrozenTable(table.to(dtype), banned)


def by_loops(pred, index, targets, scale):
    rows = []
    cosines = (F.normalize(pred, dim=-1) @ targets.table.t()).tolist()
    for cosine, target in zip(cosines, index.tolist(), strict=True):
        words = {w for w in index.tolist() if not targets.banned[w]} | {target}
        total = sum(math.exp(scale * cosine[w]) for w in words)
        rows.append(-math.log(math.exp(scale * cosine[target]) / total))
    return torch.tensor(rows, dtype=torch.float64)


@pytest.mark.parametrize("chunk", [37, 2**24])
@given(seed=st.integers(0, 10**6), n=st.integers(1, 20), vocabulary=st.integers(4, 30), scale=st.floats(0.1, 50))
def test_the_loss_is_that_of_a_loop(chunk, seed, n, vocabulary, scale):
    pred, index, targets = problem(n, vocabulary, seed=seed)
    loss = info_nce(pred, index, targets, scale, chunk)
    assert torch.allclose(loss, by_loops(pred, index, targets, scale), rtol=1e-9, atol=1e-12)


def test_repeating_a_row_changes_no_other():
    pred, index, targets = problem()
    again = torch.cat([pred, pred[:3]]), torch.cat([index, index[:3]])
    assert torch.allclose(info_nce(*again, targets)[:12], info_nce(pred, index, targets))


@pytest.mark.parametrize("chunk", [20, 2**24])
def test_gradient_by_finite_differences(chunk):
    pred, index, targets = problem()
    assert NEVER in index
    assert torch.autograd.gradcheck(lambda p: info_nce(p, index, targets, 3.0, chunk), pred)


def test_no_matrix_of_similarities_is_kept():
    pred, index, targets = problem(n=60, vocabulary=50, d=4)
    kept = []
    with torch.autograd.graph.saved_tensors_hooks(lambda x: kept.append(x.numel()) or x, lambda x: x):
        info_nce(pred, index, targets)
    assert max(kept, default=0) <= pred.numel()


def test_one_word_is_no_choice():
    pred, _, targets = problem(n=3)
    loss = info_nce(pred, torch.tensor([2, 2, 2]), targets)
    loss.sum().backward()
    assert torch.allclose(loss, torch.zeros(3, dtype=torch.float64))
    assert torch.allclose(pred.grad, torch.zeros_like(pred), atol=1e-12)


def test_no_rows():
    pred = torch.zeros(0, 5, requires_grad=True)
    loss = info_nce(pred, torch.zeros(0, dtype=torch.long), FrozenTable(torch.eye(5)))
    loss.sum().backward()
    assert loss.shape == (0,)
    assert pred.grad.shape == (0, 5)


def test_degenerate_predictions_have_finite_losses_and_gradients():
    table, index = torch.eye(4), torch.tensor([0, 1, 2])
    pred = torch.stack([torch.zeros(4), table[1] * 1e-20, -table[2]]).requires_grad_()
    loss = info_nce(pred, index, FrozenTable(table))
    loss.sum().backward()
    assert loss[0].item() == pytest.approx(math.log(3))
    assert loss.isfinite().all()
    assert pred.grad.isfinite().all()


@pytest.mark.parametrize("scale", [0.0, -1.0, float("nan")])
def test_a_scale_that_is_none_is_refused(scale):
    with pytest.raises(ValueError, match="a scale above 0"):
        InfoNCELoss(scale)
