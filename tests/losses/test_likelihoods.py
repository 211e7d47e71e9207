"""The likelihoods over words of the frozen table against formulas in float64, and the estimate by sampled words."""

import math

import pytest
import torch
import torch.nn.functional as F
from hypothesis import given
from hypothesis import strategies as st

from fairseq_xl.losses import (
    FrozenTable,
    InfoNCELoss,
    Proposal,
    Scoring,
    VmfPosteriorLoss,
    info_nce,
    log_scores,
    vmf_posterior,
)

NEVER = 3  # a row of the table that is never predicted


def problem(n=12, vocabulary=9, d=5, seed=0, bias=False, dtype=torch.float64):
    generator = torch.Generator().manual_seed(seed)
    table = F.normalize(torch.randn(vocabulary, d, generator=generator, dtype=torch.float64), dim=-1)
    index = torch.randint(vocabulary, (n,), generator=generator)
    index[index == NEVER] = 0
    pred = 3 * torch.randn(n, d, generator=generator, dtype=torch.float64)
    banned = torch.zeros(vocabulary, dtype=torch.bool)
    banned[NEVER] = True
    learnt = torch.randn(vocabulary, generator=generator, dtype=torch.float64).to(dtype) if bias else None
    return pred.to(dtype).requires_grad_(), index, FrozenTable(table.to(dtype), banned, bias=learnt)


def by_softmax(pred, index, targets, smoothing):
    """Cross-entropy with a label-smoothed target, as PyTorch computes it over the words that can be predicted."""
    words = targets.candidates()
    logits = pred @ targets.table[words].t()
    if targets.bias is not None:
        logits = logits + targets.bias[words]
    return F.cross_entropy(logits, torch.searchsorted(words, index), reduction="none", label_smoothing=smoothing)


@pytest.mark.parametrize("chunk", [20, 2**22])
@pytest.mark.parametrize("bias", [False, True])
@given(seed=st.integers(0, 10**6), n=st.integers(0, 20), vocabulary=st.integers(5, 30), smoothing=st.floats(0, 0.9))
def test_loss_and_gradients_are_those_of_a_softmax_over_the_table(bias, chunk, seed, n, vocabulary, smoothing):
    pred, index, targets = problem(n, vocabulary, seed=seed, bias=bias)
    ours = vmf_posterior(pred, index, targets, smoothing, chunk_elements=chunk)
    theirs = by_softmax(pred, index, targets, smoothing)
    assert ours.shape == (n,)
    assert torch.allclose(ours, theirs, rtol=1e-10, atol=1e-12)
    weights = torch.linspace(-1, 2, n, dtype=torch.float64)
    wanted = [pred, targets.bias] if bias else [pred]
    for one, other in zip(
        torch.autograd.grad((weights * ours).sum(), wanted),
        torch.autograd.grad((weights * theirs).sum(), wanted),
        strict=True,
    ):
        assert torch.allclose(one, other, rtol=1e-9, atol=1e-12)


def test_gradient_by_finite_differences():
    pred, index, targets = problem(bias=True)
    bias = targets.bias

    def loss(pred, bias):
        del targets.bias
        targets.bias = bias
        return vmf_posterior(pred, index, targets, 0.1, negatives=4, generator=torch.Generator().manual_seed(1))

    del targets._parameters["bias"]
    targets.bias = bias
    assert torch.autograd.gradcheck(loss, (pred, bias.detach().clone().requires_grad_()))


def test_the_loss_is_what_decoding_says_of_the_target():
    pred, index, targets = problem(dtype=torch.float32)
    said = log_scores(pred.detach(), targets, Scoring("vmf_posterior")).gather(1, index.unsqueeze(1)).squeeze(1)
    assert torch.allclose(vmf_posterior(pred, index, targets), -said, atol=1e-5)


def test_the_table_gets_no_gradient_and_no_scores_are_kept():
    pred, index, targets = problem(n=60, vocabulary=500, d=4)
    kept = []
    with torch.autograd.graph.saved_tensors_hooks(lambda x: kept.append(x.numel()) or x, lambda x: x):
        vmf_posterior(pred, index, targets).sum().backward()
    assert max(kept) < 60 * 500
    assert targets.table.grad is None


@pytest.mark.parametrize("bias", [False, True])
@pytest.mark.parametrize("weights", [None, [5.0, 1, 1, 9, 0.5, 2, 2, 1, 1]])
def test_the_estimate_of_the_normaliser_is_unbiased(weights, bias):
    """The mean of exp(loss) over many draws is Z/exp(eᵀu_w + b_w) itself."""
    pred, index, targets = problem(n=3, bias=bias)
    pred = pred.detach() / 3
    proposal = Proposal(targets.banned, None if weights is None else torch.tensor(weights))
    generator = torch.Generator().manual_seed(0)
    estimates = [
        vmf_posterior(pred, index, targets, negatives=3, proposal=proposal, generator=generator).exp()
        for _ in range(4000)
    ]
    found, exact = torch.stack(estimates), vmf_posterior(pred, index, targets).exp()
    error = (found.mean(0) - exact).abs() / (found.std(0) / 4000**0.5 + 1e-12)
    assert error.max() < 4
    assert found.std(0).max() > 0


@pytest.mark.parametrize("bias", [False, True])
def test_many_draws_are_all_words(bias):
    pred, index, targets = problem(bias=bias)
    assert torch.allclose(
        vmf_posterior(pred, index, targets, 0.1, negatives=3000), vmf_posterior(pred, index, targets, 0.1)
    )


def test_a_target_that_is_never_predicted_is_no_word_of_the_normaliser():
    """Words without a vector share that of <unk>, are banned, and are learnt as <unk>."""
    pred, index, targets = problem()
    targets.table[NEVER] = targets.table[0]
    as_unknown = index.clone()
    as_unknown[:] = 0
    banned = torch.full_like(index, NEVER)
    for draws in (0, 3000):
        assert torch.allclose(
            vmf_posterior(pred, banned, targets, negatives=draws),
            vmf_posterior(pred, as_unknown, targets, negatives=draws),
        )


def test_the_module_draws_while_training_alone():
    pred, index, targets = problem()
    loss = VmfPosteriorLoss(label_smoothing=0.2, negatives=2, reduction="none")
    exact = vmf_posterior(pred, index, targets)
    assert not torch.allclose(loss(pred, index, targets), exact)
    assert torch.allclose(loss.eval()(pred, index, targets), exact)
    rows = loss.rows(pred, index, targets)
    assert torch.allclose(rows.kappa, pred.norm(dim=-1))


def test_the_module_draws_by_its_weights():
    pred, index, targets = problem(vocabulary=200)
    weights = torch.linspace(0.01, 1, 200) ** 4
    generators = [torch.Generator().manual_seed(0) for _ in range(3)]
    of_module = VmfPosteriorLoss(negatives=9, weights=weights, generator=generators[0], reduction="none")
    proposal = Proposal(targets.banned, weights)
    weighted = vmf_posterior(pred, index, targets, negatives=9, proposal=proposal, generator=generators[1])
    uniform = vmf_posterior(pred, index, targets, negatives=9, generator=generators[2])
    assert torch.equal(of_module(pred, index, targets), weighted)
    assert not torch.allclose(uniform, weighted)


@pytest.mark.parametrize("options", [{"label_smoothing": 1.0}, {"label_smoothing": -0.1}, {"negatives": -1}])
def test_options_out_of_bounds_are_refused(options):
    with pytest.raises(ValueError, match="not"):
        VmfPosteriorLoss(**options)


# --- the words of the batch


def batch_problem(n=12, vocabulary=8, d=5, seed=0, dtype=torch.float64):
    generator = torch.Generator().manual_seed(seed)
    table = F.normalize(torch.randn(vocabulary, d, generator=generator, dtype=torch.float64), dim=-1)
    index = torch.randint(vocabulary, (n,), generator=generator)
    pred = 3 * torch.randn(n, d, generator=generator, dtype=torch.float64)
    banned = torch.zeros(vocabulary, dtype=torch.bool)
    banned[NEVER] = True
    return pred.to(dtype).requires_grad_(), index, FrozenTable(table.to(dtype), banned)


def by_loops(pred, index, targets, scale):
    rows = []
    cosines = (F.normalize(pred, dim=-1) @ targets.table.t()).tolist()
    for cosine, target in zip(cosines, index.tolist(), strict=True):
        words = {w for w in index.tolist() if not targets.banned[w]} | {target}
        total = sum(math.exp(scale * cosine[w]) for w in words)
        rows.append(-math.log(math.exp(scale * cosine[target]) / total))
    return torch.tensor(rows, dtype=torch.float64)


@pytest.mark.parametrize("chunk", [37, 2**24])
@given(seed=st.integers(0, 10**6), n=st.integers(1, 20), vocabulary=st.integers(4, 30), scale=st.floats(0.1, 50))
def test_info_nce_is_that_of_a_loop(chunk, seed, n, vocabulary, scale):
    pred, index, targets = batch_problem(n, vocabulary, seed=seed)
    loss = info_nce(pred, index, targets, scale, chunk)
    assert torch.allclose(loss, by_loops(pred, index, targets, scale), rtol=1e-9, atol=1e-12)


def test_info_nce_repeating_a_row_changes_no_other():
    pred, index, targets = batch_problem()
    again = torch.cat([pred, pred[:3]]), torch.cat([index, index[:3]])
    assert torch.allclose(info_nce(*again, targets)[:12], info_nce(pred, index, targets))


@pytest.mark.parametrize("chunk", [20, 2**24])
def test_gradient_of_info_nce_by_finite_differences(chunk):
    pred, index, targets = batch_problem()
    assert NEVER in index
    assert torch.autograd.gradcheck(lambda p: info_nce(p, index, targets, 3.0, chunk), pred)


def test_info_nce_keeps_no_matrix_of_similarities():
    pred, index, targets = batch_problem(n=60, vocabulary=50, d=4)
    kept = []
    with torch.autograd.graph.saved_tensors_hooks(lambda x: kept.append(x.numel()) or x, lambda x: x):
        info_nce(pred, index, targets)
    assert max(kept, default=0) <= pred.numel()


def test_one_word_is_no_choice_of_info_nce():
    pred, _, targets = batch_problem(n=3)
    loss = info_nce(pred, torch.tensor([2, 2, 2]), targets)
    loss.sum().backward()
    assert torch.allclose(loss, torch.zeros(3, dtype=torch.float64))
    assert torch.allclose(pred.grad, torch.zeros_like(pred), atol=1e-12)


def test_info_nce_of_no_rows():
    pred = torch.zeros(0, 5, requires_grad=True)
    loss = info_nce(pred, torch.zeros(0, dtype=torch.long), FrozenTable(torch.eye(5)))
    loss.sum().backward()
    assert loss.shape == (0,)
    assert pred.grad.shape == (0, 5)


def test_degenerate_predictions_have_finite_losses_and_gradients():
    table, index = torch.eye(4), torch.tensor([0, 1, 2])
    pred = torch.stack([torch.zeros(4), table[1] * 1e-20, -table[2]]).requires_grad_()
    loss = info_nce(pred, index, FrozenTable(table))
    loss.sum().backward()
    assert loss[0].item() == pytest.approx(math.log(3))
    assert loss.isfinite().all()
    assert pred.grad.isfinite().all()


@pytest.mark.parametrize("scale", [0.0, -1.0, float("nan")])
def test_a_scale_that_is_none_is_refused(scale):
    with pytest.raises(ValueError, match="a scale above 0"):
        InfoNCELoss(scale)


def test_a_batch_of_words_that_are_never_predicted():
    """Each is the only word of its row, and nothing draws it anywhere."""
    pred, _, targets = batch_problem(n=3)
    loss = info_nce(pred, torch.tensor([NEVER] * 3), targets)
    loss.sum().backward()
    assert torch.equal(loss, torch.zeros(3, dtype=torch.float64))
    assert torch.equal(pred.grad, torch.zeros_like(pred))


def test_a_module_serves_two_tables():
    loss = VmfPosteriorLoss(negatives=2000, reduction="none")
    for vocabulary in (9, 30):
        pred, index, targets = problem(vocabulary=vocabulary)
        assert torch.allclose(loss(pred, index, targets), vmf_posterior(pred, index, targets))


def test_the_proposal_is_of_the_words_of_a_table_that_was_loaded():
    random = torch.Generator().manual_seed(0)
    rows = F.normalize(torch.randn(40, 8, generator=random), dim=-1)
    targets, fewer = FrozenTable(rows), FrozenTable(rows, torch.arange(40) >= 10)
    loss = VmfPosteriorLoss(negatives=5000)
    pred, index = torch.randn(30, 8, generator=random), torch.arange(30) % 10
    loss(pred, index, targets)
    targets.load_state_dict(fewer.state_dict())
    assert loss(pred, index, targets).item() == pytest.approx(vmf_posterior(pred, index, fewer).mean().item(), rel=1e-5)


@pytest.mark.parametrize("loss", [InfoNCELoss(), VmfPosteriorLoss(), VmfPosteriorLoss(negatives=30)], ids=str)
def test_autocast_changes_nothing(loss):
    random = torch.Generator().manual_seed(0)
    targets = FrozenTable(F.normalize(3 + torch.randn(200, 16, generator=random), dim=-1))
    pred, index = torch.randn(50, 16, generator=random, requires_grad=True), torch.arange(50)
    found = []
    for enabled in (False, True):
        loss.generator = torch.Generator().manual_seed(1)
        with torch.autocast("cpu", dtype=torch.bfloat16, enabled=enabled):
            value = loss(pred, index, targets)
        found.append((value, *torch.autograd.grad(value, pred)))
    assert all(torch.equal(one, other) for one, other in zip(*found, strict=True))
