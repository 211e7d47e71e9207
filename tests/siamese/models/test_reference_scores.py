"""The rules by which reference sentences decide."""

from __future__ import annotations

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from fairseq_xl.siamese.models.contrastive import unit
from fairseq_xl.siamese.models.reference_scores import reference_scores
from fairseq_xl.siamese.models.voting_options import RULES

# Two classes on two axes; class 1's references are spread.
REFERENCES = unit(torch.tensor([[1.0, 0], [1, 0.1], [0, 1], [-1, 0.2], [0.1, 1]]))
CLASSES = torch.tensor([0, 0, 1, 1, 1])


@pytest.mark.parametrize("rule", RULES)
def test_every_rule_finds_a_clear_class(rule):
    sentences = unit(torch.tensor([[1.0, 0.02], [0.02, 1]]))
    scores = reference_scores(sentences, REFERENCES, CLASSES, 2, rule, neighbours=2)
    assert scores.argmax(1).tolist() == [0, 1]


def test_matches_are_counted_above_the_threshold():
    sentence = unit(torch.tensor([[0.0, 1.0]]))
    scores = reference_scores(sentence, REFERENCES, CLASSES, 2, "matches", threshold=0.5)
    assert scores.floor().tolist() == [[0, 2]]
    scores = reference_scores(sentence, REFERENCES, CLASSES, 2, "matches", threshold=0.05)
    assert scores.floor().tolist() == [[1, 3]]


def test_of_classes_with_unequal_references_the_share_that_matches_counts():
    references = unit(torch.tensor([[1.0, 0.1]] * 2 + [[1, 0]] * 5 + [[0, 1]] * 5))
    classes = torch.tensor([0] * 2 + [1] * 10)
    sentence = unit(torch.tensor([[1.0, 0.0]]))
    # All of class 0 and half of class 1 match: 2 against 5.
    assert reference_scores(sentence, references, classes, 2).argmax() == 0
    # Equal shares are decided by the mean cosine, and by less than any difference of shares.
    scores = reference_scores(sentence, references[:7], classes[:7], 2)
    assert scores.argmax() == 1
    assert (scores[0, 1] - scores[0, 0]) < 1 / 5


def test_the_mean_cosine_breaks_ties_of_matches():
    sentence = unit(torch.tensor([[1.0, -1.0]]))  # matches nothing, but is nearer to class 0
    scores = reference_scores(sentence, REFERENCES, CLASSES, 2, "matches", threshold=0.99)
    assert scores.floor().tolist() == [[0, 0]]
    assert scores.argmax(1).tolist() == [0]


@given(st.integers(0, 1000))
def test_a_tie_break_never_outweighs_a_match(seed):
    generator = torch.Generator().manual_seed(seed)
    sentences = unit(torch.randn(8, 3, generator=generator))
    references = unit(torch.randn(12, 3, generator=generator))
    labels = torch.arange(12) % 3
    scores = reference_scores(sentences, references, labels, 3, "matches", 0.3)
    counts = (sentences @ references.t() > 0.3).float() @ torch.nn.functional.one_hot(labels, 3).float()
    chosen = counts.gather(1, scores.argmax(1, keepdim=True))
    assert (chosen == counts.max(1, keepdim=True).values).all()


def test_mistakes():
    with pytest.raises(ValueError, match="a class has no reference"):
        reference_scores(REFERENCES, REFERENCES, CLASSES, 3)
    with pytest.raises(ValueError, match="a rule is one of matches, mean"):
        reference_scores(REFERENCES, REFERENCES, CLASSES, 2, "vote")


def test_a_larger_share_of_matches_wins_whatever_the_mean_cosine():
    """8 of 9 references match, or 9 of 10, whose mean is far lower."""
    cosines = torch.tensor([*[1.0] * 8, 0.49, *[0.51] * 9, -1.0])
    references = torch.stack([cosines, (1 - cosines**2).sqrt()], 1)
    labels = torch.tensor([0] * 9 + [1] * 10)
    assert reference_scores(torch.tensor([[1.0, 0.0]]), references, labels, 2).argmax() == 1
