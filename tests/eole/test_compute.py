"""The training loss: for every loss, its own values over the words of a batch, and nothing for padding."""

from __future__ import annotations

from types import SimpleNamespace

import pytest
import torch

pytest.importorskip("eole", reason="eole is not installed: FAIRSEQ_XL_EOLE=1 bash scripts/test.sh makes it a place")

from fairseq_xl.eole.compute import SAMPLE, VectorLossCompute
from fairseq_xl.eole.generator import VectorGenerator
from fairseq_xl.eole.losses import build_loss
from fairseq_xl.eole.settings import Continuous
from fairseq_xl.losses import LOSSES, FrozenTable, best_words, nearest

PAD, UNK = 1, 0


def compute(name: str, bias: bool = False) -> VectorLossCompute:
    """eole's computation of a loss, with everything that is not ours left out."""
    torch.manual_seed(0)
    banned = torch.arange(12) == PAD
    targets = FrozenTable(torch.randn(12, 8), banned, "normalize", torch.randn(12) if bias else None)
    made = VectorLossCompute.__new__(VectorLossCompute)
    torch.nn.Module.__init__(made)
    made.generator = VectorGenerator(16, targets, torch.zeros(12), Continuous("x"))
    made.criterion = SimpleNamespace(ignore_index=PAD)
    made.vector_loss = build_loss(name, {}, torch.zeros(12))
    made.unknown = UNK
    return made


@pytest.mark.parametrize("name", LOSSES)
def test_a_batch_loses_what_its_words_lose(name: str) -> None:
    made = compute(name)
    states = torch.randn(3, 4, 16)
    words = torch.tensor([[2, 3, 4, 5], [6, 7, PAD, PAD], [8, 9, 10, PAD]])
    is_word = words.ne(PAD)
    torch.manual_seed(1)  # negative_sampling draws
    loss, scores = made._compute_ce_loss(states, words.view(-1))
    assert scores is None
    pred, targets = made.generator.vectors(states)[is_word], made.generator.targets
    torch.manual_seed(1)
    wanted = made.vector_loss.rows(pred, words[is_word], targets).loss.sum()
    assert torch.allclose(loss, wanted)
    assert made.correct == int((nearest(pred, targets)[1].squeeze(1) == words[is_word]).sum())
    loss.backward()
    assert made.generator.projection.weight.grad.abs().sum() > 0


def test_accuracy_is_a_sample_s_while_training_and_exact_in_validation() -> None:
    made = compute("cosine")
    count = 3 * SAMPLE
    states = torch.randn(1, count, 16)
    pred = made.generator.vectors(states)[0]
    words = nearest(pred, made.generator.targets)[1].squeeze(1)
    words[: count // 3] = (words[: count // 3] + 1) % 10 + 2
    wanted = int((nearest(pred, made.generator.targets)[1].squeeze(1) == words).sum())
    made._compute_ce_loss(states, words)
    assert abs(made.correct - wanted) < 0.15 * count
    made.vector_loss.eval()
    made._compute_ce_loss(states, words)
    assert made.correct == wanted


def test_a_word_with_the_vector_of_unk_counts_as_it() -> None:
    made = compute("most_informative_negative")
    targets = made.generator.targets
    targets.table[5], targets.banned[5] = targets.table[UNK], True
    states = torch.randn(1, 1, 16)
    without, spelt = (made._compute_ce_loss(states, torch.tensor([row]))[0] for row in (5, UNK))
    assert torch.equal(without, spelt)


def test_a_word_bias_counts_in_the_accuracy() -> None:
    made = compute("vmf_posterior", bias=True)
    pred = torch.randn(5, 8)
    targets = made.generator.targets
    logits = (pred @ targets.table.t() + targets.bias).masked_fill(targets.banned, -torch.inf)
    assert torch.equal(best_words(pred, targets), logits.argmax(1))


def test_a_batch_of_padding_loses_nothing() -> None:
    made = compute("cosine")
    loss, _ = made._compute_ce_loss(torch.randn(1, 2, 16), torch.tensor([PAD, PAD]))
    assert loss == 0
    assert made.correct == 0
