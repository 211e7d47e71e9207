"""Losses by name, with the suite's defaults; mistakes are sentences."""

from __future__ import annotations

import importlib.util
from dataclasses import fields

import pytest
import torch

from fairseq_xl.eole.losses import build_loss, finite_sum, options_of
from fairseq_xl.io.errors import InputError
from fairseq_xl.losses import LOSSES, FrozenTable, TableMarginLoss, TargetLoss, VectorLoss, VmfPosteriorLoss

FREQUENCY = torch.tensor([-3.0, -2.0, -1.0, -0.5, -4.0])


@pytest.mark.parametrize("name", LOSSES)
def test_a_loss_of_a_name_gives_a_value_per_row(name: str) -> None:
    torch.manual_seed(0)
    targets = FrozenTable(torch.randn(5, 8), target_norm="normalize")
    pred = torch.randn(6, 8, requires_grad=True)
    found = build_loss(name, {}, FREQUENCY).rows(pred, torch.arange(6) % 5, targets).loss
    assert found.shape == (6,)
    finite_sum(found).backward()
    assert pred.grad is not None
    assert pred.grad.abs().sum() > 0


@pytest.mark.skipif(importlib.util.find_spec("fairseq") is None, reason="compares with fairseq's criteria")
@pytest.mark.parametrize("name", sorted(set(LOSSES) - {"vmf_released"}))
def test_options_and_defaults_are_those_of_the_criteria(name: str) -> None:
    from fairseq.criterions import CRITERION_DATACLASS_REGISTRY

    criterion = {each.name: each.default for each in fields(CRITERION_DATACLASS_REGISTRY[name])}
    ours = options_of(name)
    shared = criterion.keys() & ours.keys()
    assert {key: ours[key] for key in shared} == {key: criterion[key] for key in shared}
    only_there = criterion.keys() - ours.keys() - {"_name", "sentence_avg"}
    assert only_there <= {"form", "search_chunk", "negative"}


@pytest.mark.parametrize(
    ("name", "options", "sentence"),
    [
        ("cosine", {"margin": 0.5}, "has 'margin': the options of cosine are none"),
        ("syn_margin_proj", {"margins": 1}, "the options of syn_margin_proj are margin"),
        ("syn_margin_proj", {"margin": "wide"}, "margin is 'wide': give a number"),
        ("negative_sampling", {"negatives": 2.5}, "negatives is 2.5: give a whole number"),
        ("in_batch_negative", {"semi_hard": 1}, "semi_hard is 1: give true or false"),
        ("info_nce", {"scale": 0}, "info_nce needs a scale above 0"),
        ("vmf_posterior", {"negatives_power": 0.75}, "negatives_power says how words are sampled: give negatives"),
        ("vmf_posterior", {"label_smoothing": 1.5}, "label smoothing is from 0 to below 1"),
    ],
)
def test_options_that_a_loss_does_not_take_are_refused(name: str, options: dict, sentence: str) -> None:
    with pytest.raises(InputError, match=sentence):
        build_loss(name, options, FREQUENCY)


def test_words_are_drawn_by_their_frequency_to_a_power() -> None:
    loss = build_loss("vmf_posterior", {"negatives": 4, "negatives_power": 0.5}, FREQUENCY)
    assert isinstance(loss, VmfPosteriorLoss)
    assert torch.allclose(loss.weights, FREQUENCY.double().exp().sqrt())
    assert build_loss("vmf_posterior", {"negatives": 4}, FREQUENCY).weights is None


def test_a_loss_that_is_not_finite_ends_training() -> None:
    with pytest.raises(FloatingPointError, match="the loss is not finite"):
        finite_sum(torch.tensor([1.0, float("nan")]))


class AngleLoss(TargetLoss):
    """As docs/tutorials/own-loss.md has it."""

    def __init__(self, power: float = 2.0, **settings):
        super().__init__(**settings)
        self.power = power

    def per_row(self, pred, target):
        cosine = (torch.nn.functional.normalize(pred, dim=-1) * target).sum(-1)
        return cosine.clamp(-0.999999, 0.999999).acos() ** self.power


class NextWordLoss(TableMarginLoss):
    """As CONTRIBUTING.md has it: its constructor is that of the base class."""

    def negatives(self, pred, index, targets):
        return (index.unsqueeze(-1) + 1) % targets.table.shape[0]


class WeightedLoss(AngleLoss):
    def __init__(self, weights: torch.Tensor | None = None, **settings):
        super().__init__(**settings)
        self.weights = weights


@pytest.mark.parametrize(
    ("kind", "defaults", "given"),
    [
        (AngleLoss, {"power": 2.0}, {"power": 1.5}),
        (NextWordLoss, {"margin": 0.5}, {"margin": 0.4}),
        (WeightedLoss, {"negatives_power": 0.0}, {"negatives_power": 0.5}),
    ],
)
def test_a_loss_of_ones_own_has_the_options_of_its_constructor(
    monkeypatch: pytest.MonkeyPatch, kind: type[VectorLoss], defaults: dict[str, float], given: dict[str, float]
) -> None:
    monkeypatch.setitem(LOSSES, "own", kind)
    assert options_of("own") == defaults
    targets = FrozenTable(torch.randn(5, 8), target_norm="normalize")
    for options in ({}, given):
        loss = build_loss("own", options, FREQUENCY)
        assert loss.rows(torch.randn(3, 8), torch.arange(3), targets).loss.shape == (3,)
    (option, value), *_ = given.items()
    if option == "negatives_power":
        assert torch.allclose(loss.weights, FREQUENCY.double().exp() ** value)
    else:
        assert getattr(loss, option) == value
    with pytest.raises(InputError, match=f"has 'settings': the options of own are {option}"):
        build_loss("own", {"settings": 1}, FREQUENCY)
