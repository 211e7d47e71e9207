"""The mix of two losses: its schedule, the two losses' options, and where the number of updates comes from."""

from types import SimpleNamespace

import pytest
import torch
from fairseq.models import BaseFairseqModel

from fairseq_xl.continuous.criteria.annealed import Annealed, end_weight
from fairseq_xl.io.errors import InputError
from fairseq_xl.losses import cosine, syn_margin_proj, vmf

DEFAULTS = {
    **{"start_loss": "cosine", "start_options": "", "anneal_from": 10},
    **{"end_loss": "syn_margin_proj", "end_options": "", "anneal_to": 30},
}


def make(**options):
    task = SimpleNamespace(target_dictionary=SimpleNamespace(pad=lambda: 1))
    return Annealed(task, False, **{**DEFAULTS, **options})


@pytest.mark.parametrize(
    ("update", "weight"), [(0, 0), (10, 0), (11, 0.05), (20, 0.5), (29, 0.95), (30, 1), (31, 1), (10**9, 1)]
)
def test_the_weight_rises_linearly_between_the_corners(update, weight):
    assert end_weight(update, 10, 30) == pytest.approx(weight, abs=1e-15)


@pytest.mark.parametrize("update", [0, 10, 14, 30, 99])
def test_the_loss_is_the_mix_of_the_two(problem, update):
    pred, index, targets = problem
    targets.set_num_updates(update)
    mixed, logged = make().rows(pred, index, targets)
    w = end_weight(update, 10, 30)
    target = targets(index)
    expected = (1 - w) * cosine(pred, target) + w * syn_margin_proj(pred, target, 0.5)
    assert torch.allclose(mixed, expected)
    ours, theirs = (torch.autograd.grad(x.sum(), pred)[0] for x in (mixed, expected))
    assert torch.allclose(ours, theirs)
    assert logged["end_weight"].item() == pytest.approx(5 * w)
    assert ("end_hinge" in logged) == (w > 0)
    assert torch.allclose(logged["kappa"], pred.norm(dim=-1).sum())


@pytest.mark.parametrize(("update", "idle"), [(10, "end"), (30, "start")])
def test_a_loss_without_weight_is_not_computed(problem, monkeypatch, update, idle):
    criterion = make()
    monkeypatch.setattr(getattr(criterion, idle), "rows", None)
    problem[2].set_num_updates(update)
    criterion.rows(*problem)


def test_fairseq_tells_the_table_the_number_of_updates(problem):
    model = torch.nn.Module()
    model.decoder = torch.nn.Module()
    model.decoder.targets = problem[2]
    BaseFairseqModel.set_num_updates(model, 17)
    assert problem[2].num_updates == 17


def test_options_of_the_two_losses(problem):
    pred, index, targets = problem
    criterion = make(
        start_loss="vmf",
        start_options="lambda1=0  lambda2=1 form=paper",
        end_loss="negative_sampling",
        end_options="margin=0.25 negatives=3",
    )
    loss, _ = criterion.rows(pred, index, targets)
    assert torch.allclose(loss, vmf(pred, targets(index)))
    assert (criterion.end.loss.margin, criterion.end.loss.draws) == (0.25, 3)
    assert isinstance(criterion.end.loss.draws, int)
    chunked = make(start_loss="most_informative_negative", start_options="search-chunk=2")
    assert chunked.start.loss.chunk_elements == 2_000_000
    assert chunked.start.sentence_avg is False


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"start_loss": "hinge"}, "--start-loss is 'hinge': choose one of cosine, in_batch_negative, "),
        ({"end_loss": "cross_entropy"}, "--end-loss is 'cross_entropy': choose one of cosine"),
        ({"end_loss": "annealed"}, "--end-loss is 'annealed': choose one of cosine"),
        ({"start_options": "margin=1"}, "'margin=1': the options of cosine are none"),
        ({"end_options": "margni=1"}, "'margni=1': the options of syn_margin_proj are margin=…"),
        ({"end_options": "margin"}, "'margin': the options of syn_margin_proj are margin=…"),
        ({"end_options": "sentence_avg=1"}, "'sentence_avg=1': the options of"),
        ({"end_options": "margin=half"}, "--end-options has 'margin=half': .*'half'"),
        ({"start_loss": "vmf", "start_options": "form=newest"}, "'form=newest': .*paper, released"),
        ({"start_loss": "negative_sampling", "start_options": "negatives=2.5"}, "'negatives=2.5': "),
        ({"start_loss": "info_nce", "start_options": "scale=0"}, "--scale is 0"),
        ({"anneal_from": 30}, "--anneal-from 30 --anneal-to 30: give two numbers of updates"),
        ({"anneal_from": -1}, "--anneal-from -1 "),
    ],
)
def test_mistakes_are_told_in_one_sentence(options, message):
    with pytest.raises(InputError, match=message) as caught:
        make(**options)
    assert "\n" not in str(caught.value)
