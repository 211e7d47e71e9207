"""A learning rate that falls after large gradients."""

from types import SimpleNamespace

import pytest
import torch

from fairseq_xl.io.errors import InputError
from fairseq_xl.training.fused_adam import FusedAdam
from fairseq_xl.training.halving import Halving


def made(**changed):
    weights = torch.nn.Parameter(torch.zeros(2))
    adam = FusedAdam(SimpleNamespace(adam_betas="(0.9, 0.98)", adam_eps=1e-6, weight_decay=0.0, lr=[0.08]), [weights])
    settings = {
        "halve_above": 5.0,
        "halve_by": 0.5,
        "halve_until": 0.015,
        "halve_for": 0,
        "lr": [0.08],
        "clip_norm": 0.0,
    }
    return weights, Halving(SimpleNamespace(**{**settings, **changed}), adam)


def test_it_falls_after_large_gradients_alone_and_not_below_its_floor():
    weights, schedule = made()
    assert schedule.step_update(0) == 0.08  # before training: no gradient
    rates = []
    for update, gradient in enumerate([(3.0, 4.0), (3.0, 4.1), (0.0, 0.0), (9.0, 0.0), (9.0, 0.0)], start=1):
        weights.grad = torch.tensor(gradient)
        rates.append(schedule.step_update(update))
        assert schedule.step_update(update) == rates[-1]  # as at the end of an epoch
    assert rates == [0.08, 0.04, 0.04, 0.02, 0.015]
    assert schedule.optimizer.get_lr() == 0.015


def test_it_rises_again_after_a_while():
    weights, schedule = made(halve_for=2)
    rates = []
    for update, gradient in enumerate((9.0, 0.0, 9.0, 0.0, 0.0, 0.0), start=1):
        weights.grad = torch.tensor([gradient, 0.0])
        rates.append(schedule.step_update(update))
        state = schedule.state_dict()
        weights, schedule = made(halve_for=2)
        schedule.load_state_dict(state)
    assert rates == [0.04, 0.04, 0.02, 0.02, 0.08, 0.08]


def test_it_goes_on_where_it_was():
    weights, schedule = made()
    weights.grad = torch.tensor([9.0, 0.0])
    schedule.step_update(1)
    _, other = made()
    other.load_state_dict(schedule.state_dict())
    assert other.step_update(1) == 0.04


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"lr": [0.1, 0.2]}, "takes one learning rate"),
        ({"halve_for": -1}, "--halve-for is -1"),
        ({"halve_by": 1.0}, "--halve-by is a factor"),
        ({"clip_norm": 5.0}, "--clip-norm 5.0 keeps every gradient below --halve-above 5.0"),
    ],
)
def test_settings_that_make_no_sense(changed, message):
    with pytest.raises(InputError, match=message):
        made(**changed)


def test_a_rate_below_the_floor_does_not_rise():
    weights, schedule = made(lr=[0.01])
    schedule.step_update(0)
    weights.grad = torch.tensor((9.0, 0.0))
    assert schedule.step_update(1) == 0.01
