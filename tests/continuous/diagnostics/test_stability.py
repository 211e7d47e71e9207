"""λ₃ and λ₄: the paper's decomposition as it is written, and what follows from it."""

import dataclasses
import math

import pytest
import torch
import torch.nn.functional as F
from hypothesis import given
from hypothesis import strategies as st

from fairseq_xl.continuous.diagnostics.accuracy import Positions, look_up
from fairseq_xl.continuous.diagnostics.stability import SOURCES, Stability, components, negatives_of
from fairseq_xl.continuous.models.targets import TargetTable
from fairseq_xl.losses import margin as margin_loss
from fairseq_xl.losses import negatives, syn_margin_diff

DIM = 7


def unit_rows(*shape, seed):
    generator = torch.Generator().manual_seed(seed)
    return F.normalize(torch.randn(*shape, generator=generator, dtype=torch.float64), dim=-1)


def scene(seed=0, words=30, count=50):
    table = unit_rows(words, DIM, seed=seed).float()
    banned = torch.zeros(words, dtype=torch.bool)
    banned[:2] = True
    targets = TargetTable(table, banned, [str(i) for i in range(words)])
    generator = torch.Generator().manual_seed(seed + 1)
    index = torch.randint(2, words, (count,), generator=generator)
    pred = 3 * (table[index] + 0.5 * torch.randn(count, DIM, generator=generator))
    return look_up(pred, index, targets, 10), targets


@given(st.integers(0, 10**6), st.integers(1, 4))
def test_the_paper_s_decomposition(seed, k):
    """x = λ₃u + λ₄u_orth + y with y orthogonal to both, and û = λ₁u + λ₂u_orth."""
    pred, target = 5 * unit_rows(3, DIM, seed=seed), unit_rows(3, DIM, seed=seed + 1)
    negative = unit_rows(3, k, DIM, seed=seed + 2)
    lambda3, lambda4 = components(negative, pred, target)
    for row in range(3):
        u, unit = target[row], pred[row] / pred[row].norm()
        orthogonal = unit - (unit @ u) * u
        orthogonal = orthogonal / orthogonal.norm()
        for draw in range(k):
            y = negative[row, draw] - lambda3[row, draw] * u - lambda4[row, draw] * orthogonal
            assert abs(y @ u) < 1e-12
            assert abs(y @ orthogonal) < 1e-12
            length = lambda3[row, draw] ** 2 + lambda4[row, draw] ** 2 + y @ y
            assert length == pytest.approx(1, abs=1e-12)


@given(st.integers(0, 10**6), st.floats(0, 1))
def test_the_loss_sees_the_two_components_alone(seed, margin):
    """The last equation of section 3.1 equals equation 1."""
    pred, target = 2 * unit_rows(4, DIM, seed=seed), unit_rows(4, DIM, seed=seed + 1)
    negative = unit_rows(4, 1, DIM, seed=seed + 2)
    lambda3, lambda4 = components(negative, pred, target)
    unit, orthogonal = F.normalize(pred, dim=-1), negatives.projection(pred, target)
    along, across = (unit * target).sum(-1), (unit * orthogonal).sum(-1)
    reduced = (margin + lambda4[:, 0] * across - (1 - lambda3[:, 0]) * along).clamp_min(0)
    assert torch.allclose(margin_loss(pred, target, negative, margin), reduced, atol=1e-12)


@given(st.integers(0, 10**6))
def test_synthetic_negatives_have_no_third_component(seed):
    pred, target = unit_rows(5, DIM, seed=seed), unit_rows(5, DIM, seed=seed + 1)
    cosine = (pred * target).sum(-1)
    lambda3, lambda4 = components(negatives.projection(pred, target).unsqueeze(1), pred, target)
    assert torch.allclose(lambda3, torch.zeros_like(lambda3), atol=1e-12)
    assert torch.allclose(lambda4, torch.ones_like(lambda4), atol=1e-12)
    lambda3, lambda4 = components(negatives.difference(pred, target).unsqueeze(1), pred, target)
    assert torch.allclose(lambda3[:, 0], -((1 - cosine) / 2).sqrt(), atol=1e-12)
    assert torch.allclose(lambda4[:, 0], ((1 + cosine) / 2).sqrt(), atol=1e-12)
    assert torch.allclose(lambda3**2 + lambda4**2, torch.ones_like(lambda3), atol=1e-12)


def test_each_source_gives_its_negatives():
    positions, targets = scene()
    drawn = negatives_of(positions, targets, 5, torch.Generator().manual_seed(3))
    assert tuple(drawn) == SOURCES
    assert {name: x.shape[1] for name, x in drawn.items()} == {
        "projection": 1,
        "difference": 1,
        "uniform": 5,
        "most_informative": 1,
    }
    words = targets.table[2:]
    for row, (e, i) in enumerate(zip(positions.pred, positions.index.tolist(), strict=True)):
        apart = words @ (e / e.norm() - targets.table[i])
        apart[i - 2] = -math.inf
        assert torch.equal(drawn["most_informative"][row, 0], words[apart.argmax()])
        for x in drawn["uniform"][row]:
            (found,) = (targets.table == x).all(1).nonzero()
            assert found >= 2
            assert found != i


def test_uniform_negatives_come_from_the_generator_alone():
    positions, targets = scene()
    first, again, other = (
        negatives_of(positions, targets, 2, torch.Generator().manual_seed(seed))["uniform"] for seed in (1, 1, 2)
    )
    assert torch.equal(first, again)
    assert not torch.equal(first, other)


@pytest.mark.parametrize("name", SOURCES)
def test_streamed_statistics_and_hinges_are_those_of_a_loop(name):
    positions, targets = scene(seed=4)
    drawn = negatives_of(positions, targets, 3, torch.Generator().manual_seed(0))[name]
    found = Stability(0.5)
    for rows in torch.arange(len(positions.pred)).tensor_split(4):
        some = {field.name: getattr(positions, field.name)[rows] for field in dataclasses.fields(positions)}
        found.update(drawn[rows], Positions(**some))
    result = found.result()
    lambdas, active = [], 0
    for row in range(len(drawn)):
        u = positions.target[row].double()
        unit = positions.pred[row].double() / positions.pred[row].double().norm()
        orthogonal = unit - (unit @ u) * u
        for x in drawn[row].double():
            lambdas.append((float(x @ u), float(x @ orthogonal / orthogonal.norm())))
            active += bool(0.5 + x @ unit - unit @ u > 0)
    expected = torch.tensor(lambdas, dtype=torch.float64)
    for column, key in enumerate(("lambda3", "lambda4")):
        assert result[key]["count"] == len(expected)
        assert result[key]["mean"] == pytest.approx(expected[:, column].mean().item(), abs=1e-6)
        assert result[key]["std"] == pytest.approx(expected[:, column].std(correction=0).item(), abs=1e-5)
    assert result["hinge_active"] == active / len(expected)
    assert result["undefined"] == 0


def test_a_prediction_along_its_target_has_no_components():
    _, targets = scene()
    index = torch.tensor([5, 6, 7])
    pred = torch.stack([4 * targets.table[5], torch.zeros(DIM), targets.table[9]])
    positions = look_up(pred, index, targets, 10)
    found = Stability(0.5)
    found.update(negatives.difference(pred, positions.target).unsqueeze(1), positions)
    result = found.result()
    assert result["undefined"] == 2
    assert result["lambda3"]["count"] == 1
    # û = u: 0.5 − 1; û = 0: 0.5, and the third by its angle.
    expected = (syn_margin_diff(pred, positions.target, 0.5) > 0).float().mean().item()
    assert result["hinge_active"] == pytest.approx(expected)


def test_without_a_margin_there_is_no_hinge():
    positions, _ = scene()
    found = Stability(None)
    found.update(negatives.projection(positions.pred, positions.target).unsqueeze(1), positions)
    assert found.result()["hinge_active"] is None
