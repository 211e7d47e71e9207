"""An experiment on a real Slurm of two nodes, which is started for the test."""

from __future__ import annotations

import json
import time

import pytest

from fairseq_xl.cli import main as cli
from fairseq_xl.experiment import slurm
from fairseq_xl.experiment.state import DONE, FAILED
from fairseq_xl.experiment.tasks import Task

pytestmark = [pytest.mark.slow, pytest.mark.slurm]


@pytest.fixture
def on_slurm(slurm_cluster, playground, monkeypatch, capsys):
    """``on_slurm("--only", …)`` runs the experiment's command; gives its status, and each cell's as it is written."""
    pytest.importorskip("submitit", reason="extra `cluster` is not installed")
    for name, value in slurm_cluster.items():
        monkeypatch.setenv(name, value)

    def run(*arguments: str) -> tuple[int, dict[str, dict]]:
        slurm = ["--launcher", "slurm", "--slurm", "slurm_partition=tests", "timeout_min=5", "cpus_per_task=1"]
        words = ["experiment", "run", playground.config, "--output", playground.out, *slurm, *arguments]
        status = cli.main([str(word) for word in words])
        return status, json.loads((playground.out / "experiment.json").read_text())["cells"]

    return run


def test_cells_are_jobs(on_slurm, playground):
    playground.tell("vmf.seed3", "fails")
    status, cells = on_slurm()
    assert status != 0
    assert [cell["status"] for cell in cells.values()] == [FAILED, DONE, DONE]
    assert cells["vmf.seed3"]["error"] == "error: vmf.seed3 was told to fail"
    assert list((playground.out / "submitit").glob("*_submission.sh"))
    # What failed is run again, and nothing else.
    (playground.folder / "vmf.seed3.fails").unlink()
    playground.forget_calls()
    status, cells = on_slurm()
    assert status == 0
    assert {cell["status"] for cell in cells.values()} == {DONE}
    assert [name in call for call, name in zip(playground.calls(), ("--prepare-only", "vmf"), strict=True)] == [
        True
    ] * 2


def test_a_job_that_is_cancelled_has_failed(slurm_cluster, monkeypatch, tmp_path):
    """Also where Slurm keeps no accounts, as here, so that submitit never hears of it."""
    pytest.importorskip("submitit", reason="extra `cluster` is not installed")
    for name, value in slurm_cluster.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr(slurm, "ASK_SECONDS", 0.2)
    jobs = slurm.SubmititLauncher(tmp_path / "submitit", "slurm", {"slurm_partition": "tests", "timeout_min": 5})
    task = Task("sleeps", ["sleep", "600"], tmp_path / "log", tmp_path / "lock")
    job = jobs.submit(task)
    _wait(lambda: not job.done() and job.started())
    jobs.stop()
    _wait(job.done)
    outcome = job.outcome()
    assert (outcome.status, outcome.reason) == (1, f"Slurm ended job {job.job.job_id}, which left no result")


def _wait(ready) -> None:
    deadline = time.monotonic() + 60
    while not ready():
        assert time.monotonic() < deadline
        time.sleep(0.1)
