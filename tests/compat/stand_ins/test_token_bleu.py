"""BLEU over token numbers without the compiled library, counted by hand."""

import math

import pytest
import torch
from fairseq.scoring.bleu import BleuConfig, Scorer

from fairseq_xl.compat.stand_ins import token_bleu


def ints(*values):
    return torch.tensor(values, dtype=torch.int32)


def test_token_bleu_by_hand():
    token_bleu.supply_token_bleu()
    scorer = Scorer(BleuConfig(pad=1, eos=2, unk=3))
    # 5 of 6 words, 3 of 5 pairs, 2 of 4 triples, 1 of 3 quadruples match; lengths 6 and 6.
    scorer.add(ints(4, 5, 6, 7, 8, 9, 2), ints(4, 5, 6, 7, 3, 9, 2, 1))
    precisions = [5 / 6, 3 / 5, 2 / 4, 1 / 3]
    assert scorer.precision() == pytest.approx(precisions)
    assert scorer.score() == pytest.approx(100 * math.prod(precisions) ** 0.25)
    # A shorter translation is punished; a repeated word counts once.
    scorer.reset()
    scorer.add(ints(4, 5, 6, 7, 2), ints(4, 4, 2))
    assert scorer.precision()[0] == pytest.approx(1 / 2)
    assert scorer.brevity() == pytest.approx(math.exp(1 - 4 / 2))


def test_unknown_words_of_the_reference_match_nothing():
    scorer = Scorer(BleuConfig(pad=1, eos=2, unk=3))
    scorer.add(ints(3, 3, 2), ints(3, 3, 2))
    assert scorer.precision()[0] == 0
