"""What every loss promises, as a function and as a module: finite values per row, reductions, unit targets."""

from functools import partial

import pytest
import torch
import torch.nn.functional as F

import fairseq_xl.losses as xl
from fairseq_xl.losses.base import TargetLoss

from .conftest import batch

VECTORS = {  # of predictions and targets: the function, and the module that is the same
    "vmf": (xl.vmf, xl.VmfLoss()),
    "vmf_regularised": (partial(xl.vmf, lambda1=0.02, lambda2=0.1), xl.VmfLoss(0.02, 0.1)),
    "vmf_released": (xl.vmf_released, xl.VmfReleasedLoss()),
    "power_spherical": (xl.power_spherical, xl.PowerSphericalLoss()),
    "cosine": (xl.cosine, xl.CosineLoss()),
    "l2": (xl.l2, xl.L2Loss()),
    "syn_margin_proj": (xl.syn_margin_proj, xl.SynMarginProjLoss()),
    "syn_margin_diff": (xl.syn_margin_diff, xl.SynMarginDiffLoss()),
}
WORDS = {  # of predictions and words of a table
    "negative_sampling": (
        lambda *given: xl.negative_sampling(*given, generator=torch.Generator().manual_seed(5)),
        lambda: xl.NegativeSamplingLoss(generator=torch.Generator().manual_seed(5)),
    ),
    "most_informative_negative": (xl.most_informative_negative, xl.MostInformativeLoss),
    "in_batch_negative": (xl.in_batch_negative, xl.InBatchLoss),
    "info_nce": (xl.info_nce, xl.InfoNCELoss),
}


@pytest.mark.parametrize("name", VECTORS)
def test_a_module_is_the_mean_of_its_function(name):
    pred, target = batch()
    function, module = VECTORS[name]
    loss = module(pred, target)
    assert loss.shape == ()
    assert torch.equal(loss, function(pred, target).mean())
    assert list(module.state_dict()) == []


@pytest.mark.parametrize("name", WORDS)
def test_a_module_on_a_table_is_the_mean_of_its_function(name):
    pred, target = batch()
    given = pred, torch.arange(12), xl.FrozenTable(target)
    function, module = WORDS[name]
    assert torch.equal(module()(*given), function(*given).mean())


@pytest.mark.parametrize("name", VECTORS)
def test_rows_of_a_table_are_targets_like_others(name):
    """And the cosine and norm beside the losses are those of predictions and targets."""
    pred, target = batch()
    function, module = VECTORS[name]
    index = torch.tensor([3, 3, 0])
    found = module.rows(pred[:3], index, xl.FrozenTable(target))
    assert torch.allclose(found.loss, function(pred[:3], target[index]), rtol=1e-12)
    assert torch.allclose(found.cosine, F.cosine_similarity(pred[:3], target[index], dim=-1))
    assert torch.allclose(found.kappa, pred[:3].norm(dim=-1))
    assert {"cosine", "kappa"} <= set(module.diagnostics(found))


def test_reductions():
    pred, target = batch()
    rows = xl.cosine(pred, target)
    assert torch.equal(xl.CosineLoss(reduction="none")(pred, target), rows)
    assert torch.equal(xl.CosineLoss(reduction="sum")(pred, target), rows.sum())
    given = xl.margin(pred, target, target.flip(0), 0.3)
    assert torch.equal(xl.MarginLoss(0.3, reduction="sum")(pred, target, target.flip(0)), given.sum())
    with pytest.raises(ValueError, match="mean, sum, none, not 'max'"):
        xl.InfoNCELoss(reduction="max")


@pytest.mark.parametrize("name", VECTORS)
def test_targets_of_another_length_are_refused_or_normalized(name):
    pred, target = batch()
    function, module = VECTORS[name]
    longer = 3 * target
    for loss in (function, module):
        with pytest.raises(ValueError, match="12 targets are not of unit length, the first has 3"):
            loss(pred, longer)
    again = type(module)(target_norm="normalize")
    assert torch.allclose(again(pred, longer), type(module)()(pred, target))


def test_negatives_of_another_length_are_refused_or_normalized():
    pred, target = batch()
    negatives = torch.stack([target.flip(0), target.roll(1, 0)], 1)
    with pytest.raises(ValueError, match="the first has 2"):
        xl.margin(pred, target, 2 * negatives)
    scaled = xl.margin(pred, 3 * target, 2 * negatives, target_norm="normalize")
    assert torch.allclose(scaled, xl.margin(pred, target, negatives))


@pytest.mark.parametrize("name", VECTORS)
def test_targets_that_want_a_gradient_are_refused(name):
    pred, target = batch()
    with pytest.raises(ValueError, match="frozen"):
        VECTORS[name][0](pred, target.requires_grad_())


@pytest.mark.parametrize("name", ["vmf", "vmf_regularised", "vmf_released", "power_spherical", "cosine", "l2"])
def test_gradients_by_finite_differences(name):
    pred, target = batch()
    assert torch.autograd.gradcheck(lambda p: VECTORS[name][0](p, target), pred)


@pytest.mark.parametrize("name", VECTORS)
def test_degenerate_predictions_have_finite_losses_and_gradients(name):
    target = F.normalize(torch.randn(4, 5), dim=-1)
    pred = torch.stack([torch.zeros(5), target[1], -target[2], target[3] * 1e-20]).requires_grad_()
    value = VECTORS[name][0](pred, target)
    (gradient,) = torch.autograd.grad(value.sum(), pred)
    assert value.shape == (4,)
    assert value.isfinite().all()
    assert gradient.isfinite().all()


@pytest.mark.parametrize("name", VECTORS)
def test_no_rows(name):
    pred, target = torch.zeros(0, 5, requires_grad=True), torch.zeros(0, 5)
    assert VECTORS[name][0](pred, target).shape == (0,)
    assert VECTORS[name][1](pred, target).isnan()  # the mean of nothing, as torch's losses have it


@pytest.mark.parametrize("name", VECTORS)
def test_half_precision_is_computed_in_float32(name):
    pred, target = batch()
    pred, target = pred.detach().bfloat16(), target.bfloat16()
    value = VECTORS[name][0](pred, target)
    assert value.dtype == torch.float32
    assert torch.allclose(value, VECTORS[name][0](pred.float(), target.float(), target_norm="trust"))


@pytest.mark.parametrize("name", VECTORS)
def test_targets_are_not_stretched_to_fit(name):
    pred, target = batch()
    for wrong in (target[:1], target[0], target.unsqueeze(0)):
        for loss in VECTORS[name]:
            with pytest.raises(ValueError, match=r"each prediction has one target: predictions of shape \(12, "):
                loss(pred, wrong)


@pytest.mark.parametrize("name", [*WORDS, "vmf_posterior"])
def test_rows_of_a_table_are_not_stretched_to_fit(name):
    pred, target = batch()
    function, module = WORDS.get(name, (xl.vmf_posterior, xl.VmfPosteriorLoss))
    for wrong in (torch.tensor([1]), torch.arange(12).unsqueeze(0)):
        for loss in (function, module()):
            with pytest.raises(ValueError, match=r"need their rows of the table of shape \(12,\)"):
                loss(pred, wrong, xl.FrozenTable(target))


@pytest.mark.parametrize("name", [*WORDS, "vmf_posterior"])
def test_predictions_that_do_not_fit_a_table_are_refused(name):
    """A batch of sentences (N, T, d), vectors in the place of their rows, and a model's last layer of another size."""
    pred, target = batch()
    _, module = WORDS.get(name, (xl.vmf_posterior, xl.VmfPosteriorLoss))
    table, index = xl.FrozenTable(target), torch.arange(12)
    with pytest.raises(ValueError, match=rf"of shape \(3, 4, {table.dim}\): give those that have a target as \(N, "):
        module()(pred.view(3, 4, -1), index.view(3, 4), table)
    with pytest.raises(ValueError, match=r"need their rows of the table of shape \(12,\)"):
        module()(pred, target, table)
    with pytest.raises(ValueError, match=f"predictions of 2 numbers do not fit a table whose vectors have {table.dim}"):
        module()(pred[:, :2], index, table)


def test_negatives_are_not_stretched_to_fit():
    pred, target = batch()
    for wrong in (target[:1], target[0], target[None, None, 0], target[:1].unsqueeze(1)):
        with pytest.raises(ValueError, match=r"each prediction has negatives of its own: predictions of shape \(12, "):
            xl.margin(pred, target, wrong)
    several = target.unsqueeze(1)
    assert torch.allclose(xl.margin(pred, target, several), xl.margin(pred, target, target))


def test_a_loss_of_ones_own_is_checked_as_well():
    class Own(TargetLoss):
        def per_row(self, pred, target):
            return (pred - target).square().sum(-1)

    pred, target = batch()
    for wrong in (target[:1], target[0]):
        with pytest.raises(ValueError, match="each prediction has one target"):
            Own()(pred, wrong)
    with pytest.raises(ValueError, match="each prediction has one target"):
        Own().rows(pred, torch.tensor([1]), xl.FrozenTable(target))


@pytest.mark.parametrize("bias", [None, torch.linspace(-2, 2, 12)])
def test_the_best_word_is_the_most_probable(bias):
    pred, target = (x.detach().float() for x in batch())
    banned = torch.arange(12) == 3
    table = xl.FrozenTable(target, banned, bias=bias)
    scores = F.normalize(pred, dim=-1) @ target.t() if bias is None else pred @ target.t() + bias
    assert torch.equal(xl.best_words(pred, table), scores.masked_fill(banned, -torch.inf).argmax(-1))


@pytest.mark.parametrize("loss", [xl.VmfPosteriorLoss(), xl.NegativeSamplingLoss()])
def test_a_target_that_others_ignore_is_refused(loss):
    """−100 would be read from the end of the table."""
    table = xl.FrozenTable(torch.eye(8))
    with pytest.raises(ValueError, match="row -100 is no target: leave out what has none"):
        loss(torch.randn(3, 8), torch.tensor([1, -100, 2]), table)
