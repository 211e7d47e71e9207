"""Which pairs the task may draw of what a data directory has."""

from __future__ import annotations

from types import SimpleNamespace

import pytest
from fairseq.criterions import CRITERION_REGISTRY, FairseqCriterion
from fairseq.tasks import FairseqTask

from fairseq_xl.io.errors import InputError
from fairseq_xl.siamese.data.directory import DataDirectory
from fairseq_xl.siamese.models.task import SiameseContrastiveConfig, SiameseContrastiveTask, pair_kinds


def test_kinds_of_pairs(data_directory, labelled, tmp_path):
    folder = DataDirectory(data_directory)
    assert pair_kinds(None, folder) == ["low-high"]
    assert pair_kinds("high-low+low-low", folder) == ["high-low", "low-low"]
    with pytest.raises(InputError, match="'low' is none of low-low, low-high"):
        pair_kinds("low", folder)
    for stale in data_directory.glob("train.low.*"):
        (tmp_path / stale.name).write_bytes(stale.read_bytes())
    (tmp_path / "manifest.json").write_bytes((data_directory / "manifest.json").read_bytes())
    assert pair_kinds(None, DataDirectory(tmp_path)) == ["low-low"]
    with pytest.raises(InputError, match="has no high-resource language"):
        pair_kinds("low-high", DataDirectory(tmp_path))


@pytest.mark.parametrize(
    ("kind", "name", "said"),
    [
        ("criterion", "cross_entropy", "--criterion cross_entropy is for another task than siamese_contrastive"),
        ("criterion", "pair_classification", "give --criterion contrastive"),
        ("model", "esim", "--arch esim is for another task than siamese_contrastive: give --arch ssc_bilstm"),
    ],
)
def test_what_is_of_another_task_is_refused(data_directory, kind, name, said):
    task = SiameseContrastiveTask.setup_task(SiameseContrastiveConfig(data=str(data_directory)))
    with pytest.raises(InputError, match=said):
        getattr(task, f"build_{kind}")(SimpleNamespace(_name=name))


def test_a_criterion_of_ones_own_is_taken(data_directory, monkeypatch):
    task = SiameseContrastiveTask.setup_task(SiameseContrastiveConfig(data=str(data_directory)))
    monkeypatch.setitem(CRITERION_REGISTRY, "own", type("Own", (FairseqCriterion,), {"__module__": "plugin"}))
    monkeypatch.setattr(FairseqTask, "build_criterion", lambda _, cfg, from_checkpoint: cfg._name)
    assert task.build_criterion(SimpleNamespace(_name="own")) == "own"


def test_a_classifier_generates_no_text(data_directory):
    task = SiameseContrastiveTask.setup_task(SiameseContrastiveConfig(data=str(data_directory)))
    with pytest.raises(InputError, match="use fairseq-xl classify predict"):
        task.build_generator([], None)


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"data": None}, "name the data directory that `fairseq-xl classify prepare` made"),
        ({"pairs_per_sentence": 0}, "--pairs-per-sentence takes a number from 1, not 0"),
        ({"max_units": 0}, "--max-units takes a number from 1, not 0"),
        ({"references": -1}, "--references takes a number from 1, not -1"),
    ],
)
def test_options_that_make_no_sense(data_directory, given, said):
    with pytest.raises(InputError, match=said):
        SiameseContrastiveTask.setup_task(SiameseContrastiveConfig(**{"data": str(data_directory), **given}))


def test_references_of_a_language_that_is_not_there_are_refused_before_training(data_directory, tmp_path):
    settings = SiameseContrastiveConfig(data=str(tmp_path), reference_side="high")
    for name in ("train.low.tsv", "manifest.json", "dict.txt"):
        (tmp_path / name).write_bytes((data_directory / name).read_bytes())
    with pytest.raises(InputError, match="--reference-side high takes sentences of a language that"):
        SiameseContrastiveTask.setup_task(settings)
    settings.data = str(data_directory)
    assert SiameseContrastiveTask.setup_task(settings).reference_side == "high"
