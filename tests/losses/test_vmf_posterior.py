"""The likelihood over the frozen table against the formula in float64, and its estimate by drawn words."""

import pytest
import torch
import torch.nn.functional as F
from hypothesis import given
from hypothesis import strategies as st

from fairseq_xl.losses import FrozenTable, Proposal, Scoring, VmfPosteriorLoss, log_scores, vmf_posterior

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


@pytest.mark.parametrize("weights", [None, [5.0, 1, 1, 9, 0.5, 2, 2, 1, 1]])
def test_the_estimate_of_the_normaliser_is_unbiased(weights):
    """The mean of exp(loss) over many draws is Z/exp(eᵀu_w) itself."""
    pred, index, targets = problem(n=3)
    pred = pred.detach() / 3
    proposal = Proposal(targets, None if weights is None else torch.tensor(weights))
    generator = torch.Generator().manual_seed(0)
    estimates = [
        vmf_posterior(pred, index, targets, negatives=3, proposal=proposal, generator=generator).exp()
        for _ in range(4000)
    ]
    found, exact = torch.stack(estimates), vmf_posterior(pred, index, targets).exp()
    error = (found.mean(0) - exact).abs() / (found.std(0) / 4000**0.5 + 1e-12)
    assert error.max() < 4
    assert found.std(0).max() > 0


def test_many_draws_are_all_words():
    pred, index, targets = problem()
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


def test_draws_follow_the_weights_and_never_hold_banned_rows():
    _, _, targets = problem()
    proposal = Proposal(targets, torch.tensor([0, 1, 1, 100, 0, 0, 2, 0, 0]))
    generator = torch.Generator().manual_seed(0)
    counts = torch.zeros(9)
    for _ in range(2000):
        counts[proposal.draw(1, generator)] += 1
    assert counts[[0, 3, 4, 5, 7, 8]].sum() == 0
    assert torch.allclose(counts[[1, 2, 6]] / 2000, torch.tensor([0.25, 0.25, 0.5]), atol=0.04)
    words = torch.tensor([1, 6])
    assert torch.allclose(
        proposal.log_inclusion(words, 3).exp(), torch.tensor([1 - 0.75**3, 1 - 0.5**3], dtype=torch.float64)
    )


@pytest.mark.parametrize("weights", [[1.0, 2], [-1.0] + [1.0] * 8, [float("nan")] + [1.0] * 8, [0.0] * 9])
def test_weights_that_cannot_be_drawn_from_are_refused(weights):
    with pytest.raises(ValueError, match="a proposal needs"):
        Proposal(problem()[2], torch.tensor(weights))


def test_the_module_draws_while_training_alone():
    pred, index, targets = problem()
    loss = VmfPosteriorLoss(label_smoothing=0.2, negatives=2, reduction="none")
    exact = vmf_posterior(pred, index, targets)
    assert not torch.allclose(loss(pred, index, targets), exact)
    assert torch.allclose(loss.eval()(pred, index, targets), exact)
    rows = loss.rows(pred, index, targets)
    assert torch.allclose(rows.kappa, pred.norm(dim=-1))


@pytest.mark.parametrize("options", [{"label_smoothing": 1.0}, {"label_smoothing": -0.1}, {"negatives": -1}])
def test_options_out_of_bounds_are_refused(options):
    with pytest.raises(ValueError, match="not"):
        VmfPosteriorLoss(**options)
