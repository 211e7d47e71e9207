"""Adam in one pass: the update of its paper, fairseq's options, and mistakes in them."""

from types import SimpleNamespace

import pytest
import torch

from fairseq_xl.io.errors import InputError
from fairseq_xl.training.fused_adam import FusedAdam


def settings(**changed):
    return SimpleNamespace(
        **{"adam_betas": "(0.9, 0.98)", "adam_eps": 1e-6, "weight_decay": 0.0, "lr": [0.05], **changed}
    )


@pytest.mark.parametrize("decay", [0.0, 0.3])
def test_update(decay):
    """Kingma & Ba (2015), algorithm 1, with decoupled decay (Loshchilov & Hutter 2019, algorithm 2)."""
    generator = torch.Generator().manual_seed(0)
    weights = torch.nn.Parameter(torch.randn(7, 5, generator=generator))
    expected = weights.detach().double()
    mean = square = torch.zeros_like(expected)
    optimizer = FusedAdam(settings(weight_decay=decay), [weights])
    for step in range(1, 6):
        gradient = torch.randn(7, 5, generator=generator)
        weights.grad = gradient.clone()
        optimizer.step()
        mean = 0.9 * mean + 0.1 * gradient.double()
        square = 0.98 * square + 0.02 * gradient.double() ** 2
        corrected = (square / (1 - 0.98**step)).sqrt() + 1e-6
        expected = expected * (1 - 0.05 * decay) - 0.05 * mean / (1 - 0.9**step) / corrected
        torch.testing.assert_close(weights.detach().double(), expected, rtol=1e-5, atol=1e-6)


def test_learning_rate_of_a_schedule_reaches_the_update():
    weights = torch.nn.Parameter(torch.ones(3))
    optimizer = FusedAdam(settings(), [weights])
    optimizer.set_lr(0.0)
    weights.grad = torch.ones(3)
    optimizer.step()
    assert weights.tolist() == [1, 1, 1]


@pytest.mark.parametrize("betas", ["0.9", "(0.9, 1.0)", "(0.9, 0.9, 0.9)", "(0.9, -1)", "exit()", "(0.9,"])
def test_betas_that_are_none(betas):
    with pytest.raises(InputError, match="adam-betas"):
        FusedAdam(settings(adam_betas=betas), [torch.nn.Parameter(torch.ones(1))])


def test_half_precision_may_flatten_what_it_updates():
    """fairseq's --fp16 refuses any other optimiser unless --fp16-no-flatten-grads is given."""
    assert FusedAdam(settings(), [torch.nn.Parameter(torch.ones(3))]).supports_flat_params
