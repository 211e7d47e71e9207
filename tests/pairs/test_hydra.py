"""fairseq-hydra-train trains every classifier as fairseq-train does."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent.parent
CLASSIFIERS = (
    "siamese_lstm",
    "siamese_conv",
    "siamese_conv_lstm",
    "siamese_conv_lstm_bilstm",
    "esim",
    "decomposable_attention",
    "infersent",
)


@pytest.mark.parametrize("arch", CLASSIFIERS)
def test_every_classifier(arch, prepared, train_both_ways, assert_same_training, tmp_path):
    both = train_both_ways(
        "question_matching",
        tmp_path,
        f"task.data={prepared}",
        f"model._name={arch}",
        "+model.hidden_dim=8",
        "dataset.batch_size=32",
        "optimization.max_epoch=2",
    )
    assert_same_training(*both)


@pytest.fixture
def fairseq_hydra_train(forks, tmp_path):
    """The command itself, in a folder of its own."""

    def run(*overrides: str) -> subprocess.CompletedProcess[str]:
        named = ["--config-dir", str(ROOT / "recipes" / "config"), "--config-name", "question_matching"]
        fixed = [f"common.user_dir={ROOT}/fairseq_xl", "common.cpu=true"]
        return forks.run("fairseq-hydra-train", *named, *fixed, *overrides, cwd=tmp_path)

    return run


@pytest.mark.slow
def test_the_command_trains(fairseq_hydra_train, prepared, tmp_path):
    done = fairseq_hydra_train(f"task.data={prepared}", "optimization.max_update=2", "checkpoint.save_dir=here")
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "here" / "checkpoint_last.pt").is_file()
    assert [path.name for path in tmp_path.iterdir()] == ["here"]  # no folder and log of hydra's own


@pytest.mark.slow
def test_a_mistake_is_one_sentence_for_hydra_too(fairseq_hydra_train, tmp_path):
    done = fairseq_hydra_train(f"task.data={tmp_path}/nowhere")
    assert done.returncode == 2
    assert "Traceback" not in done.stderr
    last = done.stderr.strip().splitlines()[-1]
    assert last.startswith("error: ")
    assert "nowhere" in last
