"""The mix of two losses: its schedule, its parts' options, and where the number of updates comes from."""

from types import SimpleNamespace

import pytest
import torch
import torch.nn.functional as F
from fairseq.models import BaseFairseqModel

from fairseq_xl.continuous.criteria.annealed import Annealed, hinge_margin, second_weight
from fairseq_xl.continuous.models.targets import TargetTable
from fairseq_xl.io.errors import InputError
from fairseq_xl.losses import losses

DEFAULTS = {
    **{"first": "cosine", "first_options": "", "anneal_from": 10},
    **{"second": "syn_margin_proj", "second_options": "", "anneal_to": 30},
}


def make(**options):
    task = SimpleNamespace(target_dictionary=SimpleNamespace(pad=lambda: 1))
    return Annealed(task, False, **{**DEFAULTS, **options})


@pytest.fixture
def problem():
    generator = torch.Generator().manual_seed(0)
    table = F.normalize(torch.randn(9, 6, generator=generator), dim=-1)
    targets = TargetTable(table, torch.zeros(9, dtype=torch.bool), [str(i) for i in range(9)])
    pred = torch.randn(5, 6, generator=generator).requires_grad_()
    return pred, torch.tensor([2, 3, 3, 7, 8]), targets


@pytest.mark.parametrize(
    ("update", "weight"), [(0, 0), (10, 0), (11, 0.05), (20, 0.5), (29, 0.95), (30, 1), (31, 1), (10**9, 1)]
)
def test_the_weight_rises_linearly_between_the_corners(update, weight):
    assert second_weight(update, 10, 30) == pytest.approx(weight, abs=1e-15)


@pytest.mark.parametrize("update", [0, 10, 14, 30, 99])
def test_the_loss_is_the_mix_of_its_parts(problem, update):
    pred, index, targets = problem
    targets.set_num_updates(update)
    mixed, logged = make().rows(pred, index, targets)
    w = second_weight(update, 10, 30)
    cosine = losses.cosine(pred, targets(index))
    margin = losses.syn_margin_proj(pred, targets(index), 0.5)
    expected = (1 - w) * cosine + w * margin
    assert torch.allclose(mixed, expected)
    ours, theirs = (torch.autograd.grad(x.sum(), pred)[0] for x in (mixed, expected))
    assert torch.allclose(ours, theirs)
    assert logged["second_weight"].item() == pytest.approx(5 * w)
    assert ("second_hinge" in logged) == (w > 0)
    assert torch.allclose(logged["kappa"], pred.norm(dim=-1).sum())


@pytest.mark.parametrize(("update", "idle"), [(10, "second"), (30, "first")])
def test_a_part_without_weight_is_not_computed(problem, monkeypatch, update, idle):
    criterion = make()
    monkeypatch.setattr(getattr(criterion, idle), "rows", None)
    problem[2].set_num_updates(update)
    criterion.rows(*problem)


@pytest.mark.parametrize(
    ("options", "margin"),
    [
        ({"second_options": "margin=0.3"}, 0.3),
        ({}, 0.5),
        ({"first": "syn_margin_diff", "first_options": "margin=0.2", "second": "vmf"}, 0.2),
        ({"second": "vmf"}, None),
    ],
)
def test_the_margin_of_a_mix(options, margin):
    assert hinge_margin({"_name": "annealed", **DEFAULTS, **options}) == margin


def test_the_margin_of_one_loss():
    assert hinge_margin({"_name": "syn_margin_proj", "margin": 0.4}) == 0.4
    assert hinge_margin({"_name": "vmf", "lambda1": 0.02}) is None


def test_fairseq_tells_the_table_the_number_of_updates(problem):
    model = torch.nn.Module()
    model.decoder = torch.nn.Module()
    model.decoder.targets = problem[2]
    BaseFairseqModel.set_num_updates(model, 17)
    assert problem[2].num_updates == 17


def test_options_of_the_parts(problem):
    pred, index, targets = problem
    criterion = make(
        first="vmf",
        first_options="lambda1=0  lambda2=1 form=paper",
        second="negative_sampling",
        second_options="margin=0.25 negatives=3",
    )
    loss, _ = criterion.rows(pred, index, targets)
    assert torch.allclose(loss, losses.vmf(pred, targets(index)))
    assert (criterion.second.margin, criterion.second.draws) == (0.25, 3)
    assert isinstance(criterion.second.draws, int)
    chunked = make(first="most_informative_negative", first_options="search-chunk=2")
    assert chunked.first.chunk_elements == 2_000_000
    assert chunked.first.sentence_avg is False


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"first": "hinge"}, "--first is 'hinge': choose one of cosine, in_batch_negative, "),
        ({"second": "cross_entropy"}, "--second is 'cross_entropy': choose one of cosine"),
        ({"second": "annealed"}, "--second is 'annealed': choose one of cosine"),
        ({"first_options": "margin=1"}, "'margin=1': the options of cosine are none"),
        ({"second_options": "margni=1"}, "'margni=1': the options of syn_margin_proj are margin=…"),
        ({"second_options": "margin"}, "'margin': the options of syn_margin_proj are margin=…"),
        ({"second_options": "sentence_avg=1"}, "'sentence_avg=1': the options of"),
        ({"second_options": "margin=half"}, "--second-options has 'margin=half': .*'half'"),
        ({"first": "vmf", "first_options": "form=newest"}, "'form=newest': .*paper, released"),
        ({"first": "negative_sampling", "first_options": "negatives=2.5"}, "'negatives=2.5': "),
        ({"first": "info_nce", "first_options": "scale=0"}, "--scale is 0"),
        ({"anneal_from": 30}, "--anneal-from 30 --anneal-to 30: give two numbers of updates"),
        ({"anneal_from": -1}, "--anneal-from -1 "),
    ],
)
def test_mistakes_are_told_in_one_sentence(options, message):
    with pytest.raises(InputError, match=message) as caught:
        make(**options)
    assert "\n" not in str(caught.value)
