"""What runs otherwise on a GPU: compiled kernels that gather the targets, searches in half precision, generators."""

import pytest
import torch
import torch.nn.functional as F

from fairseq_xl.losses import (
    SCORES,
    Cosine,
    FrozenTable,
    Scoring,
    SynMarginDiff,
    SynMarginProj,
    Vmf,
    VmfReleased,
    log_scores,
    margin_rows,
    mean_resultant_length,
    most_informative_negative_words,
    nearest,
    top_words,
    uniform_negative_words,
    vmf_log_normalizer,
)

pytestmark = pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a CUDA device")

LOSSES = (Cosine(), SynMarginProj(0.5), SynMarginDiff(0.5), Vmf(0.02, 0.1), VmfReleased())


def problem(n=400, d=300, vocabulary=900, seed=0):
    generator = torch.Generator().manual_seed(seed)
    table = F.normalize(torch.randn(vocabulary, d, generator=generator, dtype=torch.float64), dim=-1)
    index = torch.randint(vocabulary, (n,), generator=generator)
    # every angle to the target occurs
    toward = d**0.5 * torch.linspace(-2, 2, n, dtype=torch.float64).unsqueeze(-1) * table[index]
    return toward + torch.randn(n, d, generator=generator, dtype=torch.float64), table, index


def value_and_gradient(loss, pred, table, index):
    pred = pred.clone().requires_grad_()
    value = loss.rows(pred, table, index).loss
    return value.detach(), torch.autograd.grad(value.sum(), pred)[0]


@pytest.mark.parametrize("loss", LOSSES, ids=repr)
@pytest.mark.parametrize("kernels", ["plain", "compiled"])
@pytest.mark.parametrize(("dtype", "tolerance"), [(torch.float32, 1e-5), (torch.bfloat16, 1e-2)])
def test_losses_agree_with_float64_on_a_cpu(loss, kernels, dtype, tolerance, monkeypatch):
    monkeypatch.setenv("FAIRSEQ_XL_KERNELS", kernels)
    pred, table, index = problem()
    pred, table = pred.to(dtype), table.float()
    value, gradient = value_and_gradient(loss, pred.cuda(), table.cuda(), index.cuda())
    monkeypatch.setenv("FAIRSEQ_XL_KERNELS", "plain")
    exact, slope = value_and_gradient(loss, pred.double(), table.double(), index)
    assert value.dtype == torch.float32
    assert gradient.dtype == dtype
    assert torch.allclose(value.cpu().double(), exact, rtol=tolerance, atol=tolerance)
    error = (gradient.cpu().double() - slope).norm(dim=-1)
    assert (error <= tolerance * slope.norm(dim=-1).clamp_min(1e-3)).all()


@pytest.mark.parametrize("loss", [SynMarginProj(0.5), Vmf(0.02, 0.1)], ids=repr)
def test_compiled_kernels_make_no_tensor_of_targets(loss, monkeypatch):
    monkeypatch.setenv("FAIRSEQ_XL_KERNELS", "compiled")
    pred, table, index = (x.cuda() for x in problem(n=8192))
    pred, table = pred.float(), table.float()
    value_and_gradient(loss, pred, table, index)  # compiles
    size = pred.numel() * 4
    torch.cuda.reset_peak_memory_stats()
    before = torch.cuda.memory_allocated()
    value_and_gradient(loss, pred, table, index)
    # the test's own copy of the predictions and their gradient, and scalars for each row
    assert torch.cuda.max_memory_allocated() - before < 2.3 * size


def test_the_normaliser_is_the_same_on_both_devices():
    kappa = torch.logspace(-12, 6, 200, dtype=torch.float64)
    for function in (vmf_log_normalizer, mean_resultant_length):
        for dim in (2, 300, 1024):
            there = function(kappa.cuda(), dim).cpu()
            assert torch.allclose(there, function(kappa, dim), rtol=1e-12, atol=1e-14)


def test_the_most_informative_row_is_found_through_halves():
    pred, table, index = problem(n=2000)
    table[7] = table[8]  # a tie
    pred, table = pred.float(), table.float()
    banned = torch.zeros(len(table), dtype=torch.bool)
    banned[[0, 5]] = True
    arguments = pred.cuda(), index.cuda(), FrozenTable(table, banned).cuda()
    by_halves = most_informative_negative_words(*arguments)
    whole = most_informative_negative_words(*arguments, half=False)
    directions = F.normalize(pred, dim=-1) - table[index]
    similarity = directions.cuda() @ table.cuda().t()
    chosen = [similarity.gather(1, rows.unsqueeze(1)) for rows in (by_halves, whole)]
    assert torch.allclose(*chosen, atol=2e-6)
    assert not banned[by_halves.cpu()].any()
    assert (by_halves.cpu() != index).all()


def test_draws_repeat_with_a_generator_on_the_device():
    _, table, index = problem()
    targets = FrozenTable(table).cuda()
    drawn = [uniform_negative_words(index.cuda(), targets, 5, torch.Generator("cuda").manual_seed(3)) for _ in range(2)]
    assert drawn[0].is_cuda
    assert torch.equal(*drawn)
    assert (drawn[0] != index.cuda().unsqueeze(1)).all()


def test_the_sampled_margin_agrees_with_a_cpu():
    pred, table, index = problem()
    targets = FrozenTable(table.float())
    rows = uniform_negative_words(index, targets, 5, torch.Generator().manual_seed(3))
    found = []
    for device in ("cpu", "cuda"):
        leaf = pred.float().to(device).requires_grad_()
        loss = margin_rows(leaf, index.to(device), targets.to(device), rows.to(device), 0.5).loss
        found.append((loss.detach().cpu(), torch.autograd.grad(loss.sum(), leaf)[0].cpu()))
    for ours, theirs in zip(*found, strict=True):
        assert torch.allclose(ours, theirs, rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize("score", SCORES)
def test_the_best_words_are_those_of_a_cpu(score):
    pred, table, _ = problem()
    pred, table, banned = pred.float(), table.float(), torch.zeros(len(table), dtype=torch.bool)
    banned[:2] = True
    targets, there, scoring = FrozenTable(table, banned), FrozenTable(table, banned).cuda(), Scoring(score)
    exact = log_scores(pred, targets, scoring)
    found = top_words(pred.cuda(), there, 5, scoring, reserved=4)
    assert torch.allclose(found.log_scores.cpu(), exact.gather(1, found.words.cpu()), atol=1e-3)
    best = exact[:, 4:].topk(5, dim=1)
    assert torch.allclose(found.log_scores.cpu(), best.values, atol=1e-3)
    cosines, words = nearest(pred.cuda(), there, 3)
    assert torch.allclose(cosines.cpu(), nearest(pred, targets, 3)[0], atol=1e-5)
    assert not torch.isin(words.cpu(), torch.tensor([0, 1])).any()
