"""The weighted sum of two losses."""

from types import SimpleNamespace

import pytest
import torch

from fairseq_xl.continuous.criteria.combined import Combined
from fairseq_xl.io.errors import InputError
from fairseq_xl.losses import syn_margin_proj, vmf_posterior

DEFAULTS = {
    **{"main_loss": "vmf_posterior", "main_options": "", "auxiliary_weight": 0.5},
    **{"auxiliary_loss": "syn_margin_proj", "auxiliary_options": ""},
}


def make(**options):
    dictionary = SimpleNamespace(pad=lambda: 1, count=[1] * 9)
    return Combined(SimpleNamespace(target_dictionary=dictionary), False, **{**DEFAULTS, **options})


def test_the_loss_is_the_weighted_sum(problem):
    pred, index, targets = problem
    found, logged = make().rows(pred, index, targets)
    expected = vmf_posterior(pred, index, targets) + 0.5 * syn_margin_proj(pred, targets(index), 0.5)
    assert torch.allclose(found, expected)
    assert set(logged) == {"cosine", "kappa", "auxiliary_hinge"} | {n for n in logged if n.endswith("repelled")}


def test_options_of_the_two_losses_and_evaluation_reach_them(problem):
    pred, index, targets = problem
    criterion = make(main_options="negatives=2 label_smoothing=0.1", auxiliary_options="margin=0.3")
    assert criterion.main.loss.negatives == 2
    criterion.eval()
    exact = vmf_posterior(pred, index, targets) + 0.5 * syn_margin_proj(pred, targets(index), 0.3)
    assert torch.allclose(criterion.rows(pred, index, targets)[0], exact)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"main_loss": "combined"}, "--main-loss is 'combined': choose one of cosine"),
        ({"auxiliary_loss": "annealed"}, "--auxiliary-loss is 'annealed': choose one of cosine"),
        ({"auxiliary_weight": 0}, "--auxiliary-weight is 0: give a number above 0"),
        ({"auxiliary_weight": float("nan")}, "--auxiliary-weight is nan"),
        ({"main_options": "label_smoothing=1"}, "label smoothing is from 0 to below 1, not 1"),
        ({"main_options": "draws=1"}, "the options of vmf_posterior are label_smoothing=…, negatives=…"),
    ],
)
def test_mistakes_are_told_in_one_sentence(options, message):
    with pytest.raises(InputError, match=message) as caught:
        make(**options)
    assert "\n" not in str(caught.value)
