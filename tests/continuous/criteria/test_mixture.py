"""The margin that a mixture of losses has."""

import pytest

from fairseq_xl.continuous.criteria.mixture import hinge_margin

COMBINED = {
    **{"_name": "combined", "main_loss": "vmf_posterior", "main_options": "", "auxiliary_weight": 0.5},
    **{"auxiliary_loss": "syn_margin_proj", "auxiliary_options": ""},
}
ANNEALED = {
    **{"_name": "annealed", "start_loss": "cosine", "start_options": "", "anneal_from": 10},
    **{"end_loss": "syn_margin_proj", "end_options": "", "anneal_to": 30},
}


@pytest.mark.parametrize(
    ("options", "margin"),
    [
        ({"end_options": "margin=0.3"}, 0.3),
        ({}, 0.5),
        ({"start_loss": "syn_margin_diff", "start_options": "margin=0.2", "end_loss": "vmf"}, 0.2),
        ({"start_loss": "syn_margin_diff", "start_options": "margin=0.2"}, 0.5),
        ({"end_loss": "vmf"}, None),
    ],
)
def test_the_margin_of_a_mix(options, margin):
    assert hinge_margin({**ANNEALED, **options}) == margin


def test_the_margin_of_one_loss():
    assert hinge_margin({"_name": "syn_margin_proj", "margin": 0.4}) == 0.4
    assert hinge_margin({"_name": "vmf", "lambda1": 0.02}) is None


def test_the_margin_of_a_sum():
    assert hinge_margin(COMBINED) == 0.5
    assert hinge_margin({**COMBINED, "auxiliary_loss": "cosine"}) is None
