"""The output layer: its scores are those of ``fairseq_xl.losses``, which decode the same model in fairseq."""

from __future__ import annotations

import pytest
import torch

from fairseq_xl.eole.generator import VectorGenerator
from fairseq_xl.eole.settings import Continuous
from fairseq_xl.losses import FrozenTable, Scoring, hubness, log_scores, nearest

FREQUENCY = torch.linspace(-3, -1, 30)


def generator(bias: bool = False, **options: object) -> VectorGenerator:
    torch.manual_seed(0)
    banned = torch.arange(30) < 2
    targets = FrozenTable(torch.randn(30, 8), banned, "normalize", torch.randn(30) if bias else None)
    return VectorGenerator(16, targets, FREQUENCY, Continuous("x", **options)).eval()


def test_by_default_the_best_word_is_the_nearest() -> None:
    made = generator()
    states = torch.randn(4, 5, 16)
    found = made(states)
    assert found.shape == (4, 5, 30)
    best = nearest(made.vectors(states).view(-1, 8), made.targets)[1].view(4, 5)
    assert torch.equal(found.argmax(-1), best)
    assert torch.isinf(found[..., :2]).all()


@pytest.mark.parametrize("score", ["cosine", "vmf_posterior"])
def test_every_correction_counts_and_eole_may_normalise_again(score: str) -> None:
    made = generator(
        bias=True,
        decode_score=score,
        decode_scale=7.0,
        decode_csls_weight=0.5,
        decode_prior_weight=0.2,
        output_scale=3.0,
    )
    states = torch.randn(6, 16)
    found = made(states)
    bonus = 0.2 * FREQUENCY + made.targets.bias.detach()
    rule = Scoring(score, 7.0, penalty=0.5 * hubness(made.targets), bonus=bonus)
    wanted = log_scores(3.0 * made.projection(states).detach(), made.targets, rule)
    assert torch.equal(found, wanted)
    assert torch.allclose(found.log_softmax(-1), found, atol=1e-5)


def test_scores_are_exact_under_autocast_and_in_half_precision() -> None:
    made = generator()
    states = torch.randn(4, 16)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        assert made(states).dtype == torch.float32
    made.bfloat16()
    assert made.targets.table.dtype == torch.float32
    assert made(states.bfloat16()).dtype == torch.float32
