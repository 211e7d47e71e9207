"""Criteria: masking, sums that add up across workers, what they log, and whom they refuse."""

import re
from pathlib import Path
from types import SimpleNamespace

import pytest
import torch
import torch.nn.functional as F
from fairseq.criterions import CRITERION_DATACLASS_REGISTRY, CRITERION_REGISTRY
from fairseq.logging import metrics

from fairseq_xl.continuous.criteria import (
    annealed,
    combined,
    distances,
    info_nce,
    margins,
    power_spherical,
    vmf,
    vmf_posterior,
)
from fairseq_xl.continuous.criteria.criterion import ContinuousCriterion
from fairseq_xl.continuous.models.targets import TargetTable
from fairseq_xl.io.errors import InputError
from fairseq_xl.losses import syn_margin_proj
from fairseq_xl.training import finite

RECIPES = Path(__file__).parents[3] / "recipes" / "lib"
PAD, UNK, DIM, WORDS = 1, 3, 6, 12
MARGIN = {"sentence_avg": False, "margin": 0.5}
CRITERIA = {
    "vmf": (vmf.Vmf, {"sentence_avg": False, "form": "paper", "lambda1": 0.02, "lambda2": 0.1}),
    "cosine": (distances.Cosine, {"sentence_avg": False}),
    "l2": (distances.L2, {"sentence_avg": False}),
    "negative_sampling": (margins.NegativeSampling, {**MARGIN, "negatives": 3}),
    "most_informative_negative": (
        margins.MostInformativeNegative,
        {**MARGIN, "search_chunk": 1e-5},  # ten similarities: a row at a time
    ),
    "syn_margin_proj": (margins.SynMarginProj, MARGIN),
    "syn_margin_diff": (margins.SynMarginDiff, MARGIN),
    "power_spherical": (power_spherical.PowerSpherical, {"sentence_avg": False}),
    "in_batch_negative": (margins.InBatchNegative, {**MARGIN, "negative": "semi_hard"}),
    "info_nce": (info_nce.InfoNCE, {"sentence_avg": False, "scale": 20.0}),
    "annealed": (
        annealed.Annealed,
        {
            "sentence_avg": False,
            **{"start_loss": "cosine", "start_options": "", "anneal_from": 0},
            **{"end_loss": "syn_margin_proj", "end_options": "margin=0.3", "anneal_to": 4},
        },
    ),
    "vmf_posterior": (
        vmf_posterior.VmfPosterior,
        {"sentence_avg": False, "negatives": 0, "negatives_power": 0.0, "label_smoothing": 0.0},
    ),
    "combined": (
        combined.Combined,
        {
            "sentence_avg": False,
            **{"main_loss": "cosine", "main_options": "", "auxiliary_weight": 1.0},
            **{"auxiliary_loss": "vmf_posterior", "auxiliary_options": ""},
        },
    ),
}
# What these compare a target with is drawn anew, or depends on the batch.
OF_THE_BATCH = ("negative_sampling", "in_batch_negative", "info_nce")


class Fixed(torch.nn.Module):
    """A "model" that predicts given vectors."""

    def __init__(self, pred, kind="continuous"):
        super().__init__()
        torch.manual_seed(0)
        table = F.normalize(torch.randn(WORDS, DIM), dim=-1)
        table[PAD] = 0
        banned = torch.zeros(WORDS, dtype=torch.bool)
        banned[:2] = True
        targets = TargetTable(table, banned, [str(i) for i in range(WORDS)])
        self.pred = torch.nn.Parameter(pred)
        self.decoder = torch.nn.Module()
        self.decoder.targets = targets
        self.decoder.output_kind = kind

    def forward(self, rows):
        return self.pred[rows], {}

    def get_targets(self, sample, _):
        return sample["target"]


def make(name):
    task = SimpleNamespace(target_dictionary=SimpleNamespace(pad=lambda: PAD, unk=lambda: UNK))
    kind, options = CRITERIA[name]
    return kind(task, **options)


def sample(rows, target):
    target = torch.tensor(target)
    return {
        "id": torch.tensor(rows),
        "net_input": {"rows": torch.tensor(rows)},
        "target": target,
        "ntokens": int(target.ne(PAD).sum()),
    }


TARGETS = [[4, 5, 2], [7, 2, PAD], [8, 9, 2]]


def model(**options):
    torch.manual_seed(3)
    return Fixed(torch.randn(3, 3, DIM) * 2, **options)


@pytest.mark.parametrize("name", CRITERIA)
def test_padding_has_no_loss_and_no_gradient(name):
    fixed = model().train()
    loss, size, log = make(name)(fixed, sample([0, 1, 2], TARGETS))
    loss.backward()
    assert size == log["ntokens"] == 8
    assert (fixed.pred.grad[1, 2] == 0).all()
    assert fixed.pred.grad[0].abs().sum() > 0


@pytest.mark.parametrize("name", [name for name in CRITERIA if name not in OF_THE_BATCH])
def test_workers_add_up_to_one(name):
    fixed, criterion = model().eval(), make(name)
    fixed.decoder.targets.set_num_updates(1)
    whole = criterion(fixed, sample([0, 1, 2], TARGETS))[2]
    parts = [criterion(fixed, sample([i], [TARGETS[i]]))[2] for i in range(3)]
    assert set(whole) == set(parts[0])
    for key, value in whole.items():
        assert float(sum(p[key] for p in parts)) == pytest.approx(float(value), rel=1e-5), key
    assert criterion.logging_outputs_can_be_summed()


def test_loss_is_the_mathematics_on_looked_up_targets():
    fixed = model()
    loss, _, _ = make("syn_margin_proj")(fixed, sample([0], [TARGETS[0]]))
    target = fixed.decoder.targets.table[TARGETS[0]]
    assert torch.allclose(loss, syn_margin_proj(fixed.pred[0], target, 0.5).sum())


@pytest.mark.parametrize("name", ["most_informative_negative", "syn_margin_proj", "info_nce"])
def test_a_word_with_the_vector_of_unk_trains_and_counts_as_it(name):
    """``--missing-vectors unk``."""
    fixed, criterion = model().eval(), make(name)
    targets = fixed.decoder.targets
    targets.table[4] = targets.table[UNK]
    targets.banned[4] = True
    with torch.no_grad():
        fixed.pred[0] = targets.table[[4, 5, 2]]
    without, spelt = (criterion(fixed, sample([0], [[first, 5, 2]])) for first in (4, UNK))
    assert torch.equal(without[0], spelt[0])
    assert without[2]["n_correct"] == 3


def test_a_bias_that_a_loss_does_not_learn_is_refused():
    fixed = model()
    fixed.decoder.targets.bias = torch.nn.Parameter(torch.zeros(len(fixed.decoder.targets.table)))
    make("vmf_posterior")(fixed, sample([0], [TARGETS[0]]))
    make("combined")(fixed, sample([0], [TARGETS[0]]))
    for criterion in (make("syn_margin_proj"), make("annealed")):
        with pytest.raises(InputError, match="does not learn the words' biases: leave out --word-bias"):
            criterion(fixed, sample([0], [TARGETS[0]]))


@pytest.mark.parametrize("name", ["info_nce", "in_batch_negative", "most_informative_negative"])
def test_mixed_precision_looks_for_near_words_in_full(name):
    fixed, criterion = model().train(), make(name)
    full, _, _ = criterion(fixed, sample([0, 1, 2], TARGETS))
    with torch.autocast("cpu", torch.bfloat16):
        mixed, _, _ = criterion(fixed, sample([0, 1, 2], TARGETS))
    ours, theirs = (torch.autograd.grad(loss, fixed.pred)[0] for loss in (mixed, full))
    assert torch.equal(mixed, full)
    assert torch.equal(ours, theirs)


def test_logged_figures():
    fixed = model().eval()
    with torch.no_grad():
        fixed.pred[0] = fixed.decoder.targets.table[TARGETS[0]] * 3  # three predictions exactly right
        fixed.pred[1, 0] = -fixed.decoder.targets.table[7]  # one exactly opposite
        own = fixed.decoder.targets.table[TARGETS[1][1]]
        across = F.normalize(fixed.pred[1, 1] - (fixed.pred[1, 1] @ own) * own, dim=-1)
        at = torch.tensor(130.0).deg2rad()
        fixed.pred[1, 1] = 2 * (at.cos() * own + at.sin() * across)  # one at 130°, which the loss still draws
    log = make("syn_margin_proj")(fixed, sample([0, 1], TARGETS[:2]))[2]
    with metrics.aggregate() as logged:
        margins.SynMarginProj.reduce_metrics([log])
    values = logged.get_smoothed_values()
    expected = F.cosine_similarity(
        fixed.pred[[0, 0, 0, 1, 1], [0, 1, 2, 0, 1]], fixed.decoder.targets.table[[4, 5, 2, 7, 2]], dim=-1
    ).mean()
    assert values["cosine"] == pytest.approx(expected.item(), abs=1e-4)
    assert values["accuracy"] >= 60
    assert values["repelled"] == pytest.approx(1 / 5, abs=1e-4)
    assert values["hinge"] <= 2 / 5
    assert values["kappa"] == pytest.approx((9 + 1 + fixed.pred[1, 1].norm().item()) / 5, rel=1e-4)


@pytest.mark.parametrize("name", CRITERIA)
def test_every_loss_logs_what_all_do(name):
    fixed, criterion = model().eval(), make(name)
    log = criterion(fixed, sample([0, 1, 2], TARGETS))[2]
    with metrics.aggregate() as logged:
        type(criterion).reduce_metrics([log, log])
    values = logged.get_smoothed_values()
    assert {"loss", "cosine", "kappa", "accuracy"} <= set(values)
    pred = torch.cat([fixed.pred[i, : len(TARGETS[i]) - TARGETS[i].count(PAD)] for i in range(3)])
    assert values["kappa"] == pytest.approx(pred.norm(dim=-1).mean().item(), abs=1e-4)
    assert ("hinge" in values) == ("margin" in CRITERIA[name][1])


def test_what_the_task_logs_is_left_to_it():
    log = {"loss": 1.0, "ntokens": 2, "sample_size": 2, "_bleu_sys_len": 7}
    with metrics.aggregate() as logged:
        distances.Cosine.reduce_metrics([log])
    assert set(logged.get_smoothed_values()) == {"loss"}


def test_accuracy_is_not_computed_while_training():
    assert "n_correct" not in make("cosine")(model().train(), sample([0], [TARGETS[0]]))[2]


@pytest.mark.parametrize("name", ["syn_margin_proj", "syn_margin_diff", "negative_sampling", "info_nce"])
def test_a_criterion_has_its_losses_defaults(name):
    """Those of vmf, the paper's regularised form, are its own."""
    criterion = CRITERION_REGISTRY[name].build_criterion(CRITERION_DATACLASS_REGISTRY[name](sentence_avg=False), None)
    plain = type(criterion.loss)()
    for key, value in vars(plain).items():
        if not key.startswith("_"):
            assert getattr(criterion.loss, key) == value, key


def test_recipes_offer_every_loss():
    ours = {
        name
        for name, kind in CRITERION_REGISTRY.items()
        if kind.__module__.startswith("fairseq_xl.") and issubclass(kind, ContinuousCriterion)
    }
    softmax, stock = {"cross_entropy", "cross_entropy_tied"}, {"stock", "stock_transformer"}
    listed = re.search(r'^LOSSES="(.*?)"$', (RECIPES / "translation.sh").read_text("utf-8"), re.MULTILINE | re.DOTALL)
    assert listed
    assert sorted(listed[1].split()) == sorted(ours | softmax | stock)
    options = (RECIPES / "translation" / "options.txt").read_text("utf-8")
    explained = options.partition("--loss LOSS")[2].partition("\n  --")[0]
    assert [name for name in listed[1].split() if not re.search(rf"\b{name}\b", explained)] == []


def test_an_unknown_kernel_is_told_in_one_sentence(monkeypatch):
    monkeypatch.setenv("FAIRSEQ_XL_KERNELS", "fast")
    with pytest.raises(InputError, match="FAIRSEQ_XL_KERNELS is 'fast': choose one of auto, plain, compiled"):
        make("cosine")


@pytest.mark.parametrize("name", CRITERIA)
def test_a_softmax_model_is_refused(name):
    with pytest.raises(InputError, match=f"criterion {name} trains predicted vectors"):
        make(name)(model(kind="softmax"), sample([0], [TARGETS[0]]))


def test_a_stock_model_is_refused():
    stock = torch.nn.Module()
    stock.decoder = torch.nn.Linear(2, 2)
    with pytest.raises(InputError, match="this model predicts none"):
        make("vmf")(stock, sample([0], [TARGETS[0]]))


def test_a_loss_that_is_not_finite_names_update_and_sentences(monkeypatch):
    monkeypatch.setattr(finite.training, "update", 42)
    fixed = model().train()
    with torch.no_grad():
        fixed.pred[2] = float("nan")
    with pytest.raises(InputError, match="update 42 on the batch of training sentences 0, 2"):
        make("cosine")(fixed, sample([0, 2], [TARGETS[0], TARGETS[2]]))


def test_a_loss_per_sentence():
    """``--sentence-avg``: the loss is divided by sentences, and what is said of words by words."""
    log = {"loss": 12.0, "ntokens": 6, "nsentences": 3, "sample_size": 3, "per_word/kappa": 30.0}
    with metrics.aggregate() as found:
        ContinuousCriterion.reduce_metrics([log, log])
    values = found.get_smoothed_values()
    assert (values["loss"], values["kappa"]) == (4, 5)


def test_a_word_of_no_count_is_sampled_too():
    assert vmf_posterior.sampling_weights([0, 1, 16], 0.5).tolist() == [1, 1, 4]
