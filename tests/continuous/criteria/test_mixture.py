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


@pytest.mark.parametrize(
    ("options", "margin"),
    [
        ({"end_loss": "angle", "end_options": "power=1.5"}, None),
        ({"end_loss": "angle", "start_loss": "syn_margin_diff"}, 0.7),
        ({"end_loss": "angle", "end_options": "power=1.5 margin=0.3", "start_loss": "syn_margin_diff"}, 0.3),
    ],
)
def test_the_margin_beside_a_loss_of_a_plugin_that_is_not_loaded(options, margin):
    """As in `translate diagnose`, which loads the model alone."""
    assert hinge_margin({**ANNEALED, **options}) == margin


def test_the_margin_of_a_sum_with_a_loss_of_a_plugin_that_is_not_loaded():
    assert hinge_margin({**COMBINED, "main_loss": "angle"}) == 0.5
