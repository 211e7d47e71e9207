"""Ensembles: means by hand, a stack that finds the one who knows, and what the command refuses."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays
from scipy.special import expit

from fairseq_xl.cli.main import main
from fairseq_xl.io.errors import InputError
from fairseq_xl.pairs.evaluation.record import PairRecord, together
from fairseq_xl.pairs.evaluation.scores import log_losses
from fairseq_xl.pairs.prediction.ensemble import (
    PRESETS,
    combine,
    cross_fit,
    fit_stack,
    mean_logit,
    mean_probability,
    out_of_fold,
)

pytest.importorskip("sklearn")


def classifier(name, seed=1, split="valid", size=300, noise=1.0, scale=1.0, first=0, **more):
    """A record of a classifier whose logits are the truth's, times ``scale``, with noise."""
    truth = np.random.default_rng(first)
    logit = truth.normal(-1, 2, size)
    gold = (truth.random(size) < expit(logit)).astype(int)
    own = np.random.default_rng([seed, *name.encode()])
    probability = expit(scale * (logit + noise * own.normal(size=size)))
    ids = [f"{split}:{first + i}" for i in range(size)]
    return PairRecord(name, split, seed, ids, gold.tolist(), probability.tolist(), [i // 3 for i in range(size)], more)


def loss(record):
    return log_losses(record.gold, record.probability).mean()


def test_means_by_hand():
    probability = np.array([[0.5, 0.9], [0.2, 0.2]])
    np.testing.assert_allclose(mean_probability(probability), [0.7, 0.2])
    np.testing.assert_allclose(mean_logit(probability), [0.75, 0.2])  # odds 1 and 9: their geometric mean is 3


@given(arrays.arrays(np.float64, (5, 3), elements=st.floats(0, 1)))
def test_means_lie_between(probability):
    for rule in (mean_probability, mean_logit):
        found = rule(probability)
        assert (found >= probability.min(1) - 2e-6).all()
        assert (found <= probability.max(1) + 2e-6).all()


def test_a_stack_finds_the_one_who_knows():
    random = np.random.default_rng(1)
    z = random.normal(-1, 2, 4000)
    gold = (random.random(4000) < expit(0.5 * z - 1)).astype(int)
    stack = fit_stack(np.stack([expit(z), expit(random.normal(size=4000))], 1), gold)
    np.testing.assert_allclose([*stack.weights, stack.bias], [0.5, 0, -1], atol=0.15)
    with pytest.raises(InputError, match="pairs that match and pairs that do not"):
        fit_stack(np.full((2, 1), 0.5), np.array([1, 1]))


def test_folds_with_a_seed_each_are_one_run():
    """As the recipe has it: seed N holds out fold N - 1."""
    folds = [classifier("a", seed, split="train", size=20, first=20 * seed) for seed in (1, 2, 3)]
    found = out_of_fold(folds, ["a"])
    assert found.ids == [name for record in folds for name in record.ids]
    assert found.means[:, 0].tolist() == [p for record in folds for p in record.probability]


def test_folds_are_joined_and_seeds_averaged():
    folds = [
        classifier(name, seed, split="train", size=20, first=first)
        for name in ("a", "b")
        for seed in (1, 2)
        for first in (0, 20)
    ]
    found = out_of_fold(folds, ["b", "a"])
    assert found.ids == [f"train:{i}" for i in range(40)]
    one = [record.probability for record in folds if (record.name, record.seed) == ("a", 1)]
    two = [record.probability for record in folds if (record.name, record.seed) == ("a", 2)]
    np.testing.assert_allclose(found.means[:, 1], (np.concatenate(one) + np.concatenate(two)) / 2)
    np.testing.assert_array_equal(found.gold, folds[0].gold + folds[1].gold)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda r: [*r, r[0]], "an id stands there twice"),
        (lambda r: r[:-1], "cover different pairs"),
        (lambda r: r[:2], "give the same"),
        (lambda r: [replace(one, gold=None) for one in r], "have no labels"),
    ],
)
def test_folds_that_do_not_fit(change, said):
    folds = [classifier(name, 1, "train", 20, first=first) for name in ("a", "b") for first in (0, 20)]
    with pytest.raises(InputError, match=said):
        out_of_fold(change(folds), ["a", "b"])


def test_a_rule_stacked_outside_and_calibrated_inside():
    outside = out_of_fold([classifier("a", split="train", first=1000, size=2000)], ["a"])
    found = together([classifier("a", scale=4, size=2000)])  # surer than it was on the folds
    plain = combine(found, "stack", None, outside)
    both = combine(found, "stack", "temperature", outside, 5)
    assert log_losses(found.labels, both).mean() < log_losses(found.labels, plain).mean() - 0.1
    # On the folds themselves the stack is calibrated already.
    again = combine(outside, "stack", "platt", outside)
    np.testing.assert_allclose(again, combine(outside, "stack", None, outside), atol=0.01)


# --- the command ---


@pytest.fixture
def files(tmp_path):
    """Write records; returns their paths."""

    def write(*records):
        paths = []
        for record in records:
            paths.append(str(tmp_path / f"{len(list(tmp_path.iterdir()))}.json"))
            record.write(tmp_path / paths[-1])
        return paths

    return write


def ensemble(tmp_path, *arguments):
    out = tmp_path / "out" / "ensemble.json"
    status = main(["match", "ensemble", *arguments, "-o", str(out)])
    return status, PairRecord.read(out) if status == 0 else None


def test_runs_of_one_name_are_averaged_first(files, tmp_path, capsys):
    records = [classifier("a", 1, training_seconds=2), classifier("a", 2, training_seconds=3), classifier("b", 1)]
    status, found = ensemble(tmp_path, *files(*records))
    assert status == 0
    a, b, c = (np.array(record.probability) for record in records)
    np.testing.assert_allclose(found.probability, ((a + b) / 2 + c) / 2)
    assert found.about["combined"] == {"a": [1, 2], "b": [1]}
    assert found.about["training_seconds"] is None
    assert found.name == "ensemble, probability"
    assert f"log loss {loss(found):.4f}" in capsys.readouterr().err
    _, two = ensemble(tmp_path, *files(*records[:2]), "--rule", "logit", "--name", "two")
    assert two.about["training_seconds"] == 5
    assert two.name == "two"


@pytest.mark.parametrize("phase", sorted(PRESETS))
def test_the_papers_submissions(files, tmp_path, capsys, phase):
    names = sorted({name for preset in PRESETS.values() for name in preset})
    paths = files(*(classifier(name) for name in names))
    _, found = ensemble(tmp_path, *paths, "--preset", phase)
    assert set(found.about["combined"]) == set(PRESETS[phase])
    assert len(PRESETS[phase]) == 4
    status, _ = ensemble(tmp_path, *paths[1:], "--preset", phase)
    assert status == 2
    assert f"--preset {phase} lacks records of {names[0]}" in capsys.readouterr().err


def test_stacking_on_out_of_fold_records(files, tmp_path):
    folds = files(
        *(classifier(n, split="train", first=f, noise=x) for n, x in (("a", 0.1), ("b", 9)) for f in (5, 400))
    )
    judged = [classifier("a", noise=0.1), classifier("b", noise=9)]
    _, found = ensemble(tmp_path, *files(*judged), "--rule", "stack", "--stack-on", *folds)
    _, plain = ensemble(tmp_path, *files(*judged))
    assert loss(found) < loss(plain)
    assert found.about["fitted_on_pairs"] == 600
    _, unlabelled = ensemble(
        tmp_path, *files(*(replace(one, gold=None) for one in judged)), "--rule", "stack", "--stack-on", *folds
    )
    assert unlabelled.gold is None
    np.testing.assert_array_equal(unlabelled.probability, found.probability)


@pytest.mark.parametrize("arguments", [["--rule", "stack"], ["--calibrate", "temperature"], ["--calibrate", "platt"]])
def test_fitting_in_folds_of_the_pairs_themselves(files, tmp_path, arguments):
    judged = files(classifier("a", scale=5, size=600), classifier("b", scale=5, size=600))
    _, plain = ensemble(tmp_path, *judged)
    _, found = ensemble(tmp_path, *judged, *arguments, "--cross-fit", "5")
    assert loss(found) < loss(plain) - 0.1
    assert found.about["folds"] == 5


def test_what_is_refused(files, tmp_path, capsys):
    judged, folds = files(classifier("a")), files(classifier("a", split="train"))
    other = files(classifier("b", first=7))
    rare = [1] * 4 + [0] * 296
    few = files(replace(classifier("a"), gold=rare))
    nameless = files(replace(classifier("a"), gold=None))
    for arguments, said in (
        ([*judged, "--rule", "stack"], "give --stack-on or --cross-fit"),
        ([*judged, "--calibrate", "platt"], "give --stack-on or --cross-fit"),
        ([*judged, "--cross-fit", "5"], "a mean has nothing to fit"),
        ([*judged, "--rule", "stack", "--cross-fit", "5", "--stack-on", *folds], "add --calibrate"),
        ([*judged, "--rule", "stack", "--stack-on", *judged], "300 of the pairs of --stack-on are to be"),
        ([*judged, *other], "are of different pairs"),
        ([*judged, "--rule", "stack", "--stack-on", *files(classifier("b", split="train"))], "give the same"),
        ([*nameless, "--rule", "stack", "--cross-fit", "5"], "have no labels"),
        ([*judged, "--rule", "stack", "--cross-fit", "1"], "1 folds of 100 groups"),
        ([*few, "--calibrate", "platt", "--cross-fit", "5"], "5 folds need as many pairs of each label, and one has 4"),
        (
            [*judged, *files(classifier("a", seed=2)), "--calibrate", "platt", "--stack-on", *folds],
            "a has 2 runs to combine, and 1 of each pair in the out-of-fold records",
        ),
    ):
        assert ensemble(tmp_path, *arguments)[0] == 2
        assert said in capsys.readouterr().err


def test_folds_are_drawn_by_the_seed():
    def fit(seen, labels):
        return lambda new: np.full(len(new), seen.sum())

    gold, group = np.tile([0, 1], 60), np.arange(120) // 2
    one, again, other = (cross_fit(fit, np.arange(120), gold, group, 4, seed) for seed in (1, 1, 2))
    assert one.tolist() == again.tolist() != other.tolist()
