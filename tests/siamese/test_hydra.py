"""fairseq-hydra-train trains the Siamese encoder as fairseq-train does."""

from __future__ import annotations

from pathlib import Path

import forked
import pytest

from fairseq_xl.training import checkpoints

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.parametrize("arch", ["ssc_bilstm", "ssc_bilstm_tiny"])
def test_the_siamese_encoder(arch, data_directory, train_both_ways, assert_same_training, tmp_path):
    both = train_both_ways(
        "siamese",
        tmp_path,
        f"task.data={data_directory}",
        f"model._name={arch}",
        "model.embed_dim=8",
        "model.hidden_dim=8",
        "optimization.max_update=4",
        "+task.references=10",
    )
    assert_same_training(*both)


def test_a_sweep_finds_the_plugin_and_trains_in_folders_of_its_own(data_directory, tmp_path):
    line = (
        f"--config-dir recipes/config --config-name siamese -m hydra.sweep.dir={tmp_path} task.data={data_directory} "
        "checkpoint.save_dir=checkpoints common.cpu=true model._name=ssc_bilstm_tiny optimization.max_update=1,2 "
        "+task.references=10"
    )
    done = forked.run("fairseq_cli.hydra_train", *line.split(), folder=ROOT)
    assert done.returncode == 0, done.stderr[-2000:]
    states = [checkpoints.read(tmp_path / name / "checkpoints" / "checkpoint_last.pt") for name in "01"]
    assert [checkpoints.updates(state) for state in states] == [1, 2]
