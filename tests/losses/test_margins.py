"""The margin loss by rows against the loss written out, and what it keeps for the backward pass."""

import inspect
from pathlib import Path

import pytest
import torch
import torch.nn.functional as F
from hypothesis import given
from hypothesis import strategies as st

from fairseq_xl.losses import (
    FrozenTable,
    InBatchLoss,
    MarginLoss,
    MostInformativeLoss,
    NegativeSamplingLoss,
    SynMarginDiffLoss,
    SynMarginProjLoss,
    TableMarginLoss,
    margin,
    margin_rows,
)


def problem(n=30, d=8, k=3, vocabulary=20, seed=0, dtype=torch.float64):
    generator = torch.Generator().manual_seed(seed)
    table = F.normalize(torch.randn(vocabulary, d, generator=generator, dtype=torch.float64), dim=-1)
    index = torch.randint(vocabulary, (n,), generator=generator)
    negatives = torch.randint(vocabulary, (n, k), generator=generator)
    pred = torch.linspace(-2, 4, n, dtype=torch.float64).unsqueeze(1) * table[index]
    pred = pred + torch.randn(n, d, generator=generator, dtype=torch.float64)
    weights = torch.rand(n, generator=generator, dtype=torch.float64)
    return pred.to(dtype).requires_grad_(), table.to(dtype), index, negatives, weights.to(dtype)


@given(d=st.integers(2, 40), k=st.integers(1, 6), by=st.floats(0, 2), seed=st.integers(0, 10**6))
def test_agrees_with_the_loss_written_out(d, k, by, seed):
    pred, table, index, negatives, weights = problem(d=d, k=k, seed=seed)
    ours = margin_rows(pred, index, FrozenTable(table), negatives, by)
    theirs = margin(pred, table[index], table[negatives], by)
    assert torch.allclose(ours.loss, theirs, rtol=1e-12, atol=1e-12)
    assert torch.allclose(ours.kappa, pred.norm(dim=-1))
    assert torch.allclose(ours.cosine, F.cosine_similarity(pred, table[index], dim=-1))
    gradients = [torch.autograd.grad((loss * weights).sum(), pred)[0] for loss in (ours.loss, theirs)]
    assert torch.allclose(*gradients, rtol=1e-9, atol=1e-11)


def test_gradient_by_finite_differences():
    pred, table, index, negatives, _ = problem(n=12)
    assert torch.autograd.gradcheck(lambda x: margin_rows(x, index, FrozenTable(table), negatives, 0.5).loss, pred)


@pytest.mark.parametrize(("dtype", "tolerance"), [(torch.float32, 1e-5), (torch.bfloat16, 1e-2)])
def test_narrow_predictions(dtype, tolerance):
    pred, table, index, negatives, weights = problem(n=200, d=300, dtype=dtype)
    loss = margin_rows(pred, index, FrozenTable(table), negatives, 0.5).loss
    (gradient,) = torch.autograd.grad((loss * weights).sum(), pred)
    assert loss.dtype == torch.float32
    assert gradient.dtype == dtype
    exact = pred.detach().double().requires_grad_()
    exact_loss = margin(exact, table[index].double(), table[negatives].double(), 0.5, "trust")
    (slope,) = torch.autograd.grad((exact_loss * weights.double()).sum(), exact)
    assert torch.allclose(loss.double(), exact_loss, rtol=tolerance, atol=tolerance)
    error = (gradient.double() - slope).norm(dim=-1)
    assert (error <= tolerance * slope.norm(dim=-1).clamp_min(1e-3)).all()


def test_a_zero_prediction_and_no_prediction():
    table = torch.eye(4)
    pred = torch.zeros(1, 4, requires_grad=True)
    loss = margin_rows(pred, torch.tensor([0]), FrozenTable(table), torch.tensor([[1, 2]]), 0.5).loss
    loss.sum().backward()
    assert loss.tolist() == [0.5]
    assert pred.grad.tolist() == [[0.0] * 4]
    none = torch.zeros(0, 4, requires_grad=True)
    rows = torch.zeros(0, 2, dtype=torch.long)
    margin_rows(none, rows[:, 0], FrozenTable(table), rows, 0.5).loss.sum().backward()
    assert none.grad.shape == (0, 4)


def test_no_negative_vector_is_kept():
    pred, table, index, negatives, _ = problem(n=40, vocabulary=10)
    kept = []
    with torch.autograd.graph.saved_tensors_hooks(lambda x: kept.append(x) or x, lambda x: x):
        margin_rows(pred, index, FrozenTable(table), negatives, 0.5)
    large = [x.data_ptr() for x in kept if x.numel() >= pred.numel()]
    assert large == [pred.data_ptr()]


def test_margin_averages_over_negatives():
    pred, table, index, negatives, _ = problem(k=4)
    one_by_one = torch.stack([margin(pred, table[index], table[negatives[:, i]], 0.3) for i in range(4)])
    assert torch.allclose(margin(pred, table[index], table[negatives], 0.3), one_by_one.mean(0))


def test_no_negatives_are_refused():
    with pytest.raises(ValueError, match="takes 1 negative or more, not 0"):
        NegativeSamplingLoss(negatives=0)


@pytest.mark.parametrize(
    "kind", [MarginLoss, NegativeSamplingLoss, MostInformativeLoss, InBatchLoss, SynMarginProjLoss, SynMarginDiffLoss]
)
@pytest.mark.parametrize("margin", [-0.1, 2.1, float("nan")])
def test_a_margin_that_cosines_cannot_have_is_refused(kind, margin):
    with pytest.raises(ValueError, match="a margin is a difference of cosines, from 0 to 2"):
        kind(margin=margin)


class NextWordLoss(TableMarginLoss):
    def negatives(self, pred, index, targets):  # (N, k) rows of the table to stay away from.
        return (index.unsqueeze(-1) + 1) % targets.table.shape[0]


def test_contributing_shows_a_source_of_negatives_that_works():
    assert inspect.getsource(NextWordLoss) in (Path(__file__).resolve().parents[2] / "CONTRIBUTING.md").read_text()
    pred, words = torch.randn(3, 4, dtype=torch.float64), F.normalize(torch.randn(7, 4, dtype=torch.float64), dim=-1)
    index = torch.tensor([0, 1, 6])
    found = NextWordLoss(0.5, reduction="none")(pred, index, FrozenTable(words))
    assert torch.allclose(found, margin(pred, words[index], words[[1, 2, 0]], 0.5))
