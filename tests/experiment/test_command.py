"""``fairseq-xl experiment`` as a user types it."""

import json
import shutil
from pathlib import Path

import pytest

from fairseq_xl.cli.experiment import command
from fairseq_xl.experiment.runner import lock_of
from fairseq_xl.experiment.state import RUNNING
from fairseq_xl.io.atomic import exclusive_lock


def test_run_and_status(run_cli, playground):
    done = run_cli("experiment", "run", playground.config, "--out", playground.out, "--gpus", "")
    assert done.returncode == 0, done.stderr
    assert [line.split()[:2] for line in done.stdout.splitlines()] == [
        ["vmf.seed3", "done"],
        ["cosine.seed1", "done"],
        ["cosine.seed2", "done"],
    ]
    assert "vmf.seed3: started" in done.stderr
    assert run_cli("experiment", "status", playground.out).stdout == done.stdout


def test_what_no_process_works_on_any_more_was_killed(run_cli, playground):
    assert run_cli("experiment", "run", playground.config, "--out", playground.out).returncode == 0
    path = playground.out / "experiment.json"
    stored = json.loads(path.read_text())
    stored["cells"]["vmf.seed3"]["status"] = RUNNING
    path.write_text(json.dumps(stored))

    def statuses() -> list[str]:
        return [line.split()[1] for line in run_cli("experiment", "status", playground.out).stdout.splitlines()]

    assert statuses() == ["killed", "done", "done"]
    for cell in (None, "vmf.seed3"):
        with exclusive_lock(lock_of(playground.out, cell), "held"):
            assert statuses() == ["running", "done", "done"]


def test_failure_shows_in_the_status(run_cli, playground):
    playground.tell("vmf.seed3", "fails")
    done = run_cli("experiment", "run", playground.config, "--out", playground.out)
    assert done.returncode == 1
    assert "vmf.seed3" in done.stdout
    assert "error: vmf.seed3 was told to fail" in done.stdout


def test_dry_run_runs_nothing(run_cli, playground):
    arguments = ("--out", playground.out, "--dry-run", "--only", "cosine", "--set", "src=fr", "--set", "size=9")
    done = run_cli("experiment", "run", playground.config, *arguments)
    lines = done.stdout.splitlines()
    assert len(lines) == 3
    assert "--prepare-only --src fr" in lines[0]
    assert lines[2].endswith("--name cosine.seed2 --src fr --size 9 --loss cosine --seed 2")
    assert not playground.out.exists()
    assert playground.calls() == []


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("status", "nowhere"), "there is no nowhere/experiment.json"),
        (("report", "nowhere"), "there is no nowhere/experiment.json"),
        (("run", "CONFIG", "--out", "x", "--slurm", "a=1"), "--slurm is for --launcher slurm"),
        (("run", "CONFIG", "--out", "x", "--gpus", "0", "--gpus-per-cell", "2"), "there are 1 GPUs"),
        (("run", "CONFIG", "--out", "x", "--launcher", "slurm", "--jobs", "2"), "--jobs is for this machine"),
        (("run", "CONFIG", "--out", "CONFIG"), "this folder cannot be made"),
    ],
)
def test_mistakes(run_cli, playground, tmp_path, monkeypatch, arguments, said):
    monkeypatch.chdir(tmp_path)
    done = run_cli("experiment", *(str(playground.config) if word == "CONFIG" else word for word in arguments))
    assert done.returncode == 2
    assert said in done.stderr
    assert "Traceback" not in done.stderr


def test_gpus_that_the_system_lists(monkeypatch, tmp_path):
    tool = tmp_path / "nvidia-smi"
    tool.write_text("#!/bin/sh\necho 0\necho 1\n")
    tool.chmod(0o755)
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=":")
    assert command.visible_gpus() == ["0", "1"]
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "1")
    assert command.visible_gpus() == ["1"]
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "")
    assert command.visible_gpus() == []


@pytest.fixture
def finished(make_run):
    """Two finished runs and one that is not, with the state of their experiment."""
    make_run("ce.seed1", 30, 0.5)
    make_run("proj.seed1", 35, 0.2)
    systems = {"ce.seed1": ["ce", 1], "proj.seed1": ["proj", 1], "vmf.seed1": ["vmf", 1]}
    stored = {
        "title": "A <title>",
        "labels": {"ce": "softmax", "proj": "projection", "vmf": "vMF"},
        "baselines": ["ce"],
        "systems": systems,
        "cells": {name: {"status": "done"} for name in ("ce.seed1", "proj.seed1")},
    }
    (make_run.out / "experiment.json").write_text(json.dumps(stored))
    return make_run.out


def test_report(run_cli, finished):
    done = run_cli("experiment", "report", finished, "--samples", "100")
    assert done.returncode == 0, done.stderr
    folder = finished / "report"
    assert done.stdout.strip() == str(folder / "index.html")
    text = (folder / "index.html").read_text()
    assert "A &lt;title&gt;" in text
    assert "Left out: 1 of 3 runs are pending: vmf.seed1." in text
    assert "1 of 3 runs are pending" in done.stderr
    assert "projection, seed 1" in text
    names = sorted(path.name for path in (folder / "tables").iterdir())
    stems = ("01-scores-a-title", "02-speed-of-training")
    assert names == [f"{stem}.{suffix}" for stem in stems for suffix in ("csv", "md", "tex")]
    assert (
        "| projection | 35.1 | 35.5 | 70.0 | +5.0 (1/1) | +10.0 (1/1) | 1 | 2 |"
        in (folder / "tables" / "01-scores-a-title.md").read_text()
    )
    assert {path.suffix for path in (folder / "figures").iterdir()} == {".png", ".pdf"}
    for compared in json.loads((folder / "significance.json").read_text()):
        assert compared["p_sentences"]["1"] < 0.05
    (folder / "tables" / "03-of-an-earlier-report.md").touch()
    (folder / "tables" / "notes.md").touch()
    before = {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    del before[folder / "tables" / "03-of-an-earlier-report.md"]
    assert run_cli("experiment", "report", finished, "--samples", "100").returncode == 0
    assert before == {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_what_failed_with_new_settings_is_not_reported_by_its_old_scores(run_cli, finished):
    path = finished / "experiment.json"
    stored = json.loads(path.read_text())
    stored["cells"]["proj.seed1"]["status"] = "failed"
    path.write_text(json.dumps(stored))
    done = run_cli("experiment", "report", finished, "--samples", "10")
    assert done.returncode == 0, done.stderr
    assert "Left out: 1 of 3 runs are failed: proj.seed1." in done.stderr
    assert "projection" not in next((finished / "report" / "tables").glob("01-*.md")).read_text()


def test_no_gpus_are_hidden_ones(run_cli, playground, monkeypatch):
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "0,1")
    done = run_cli("experiment", "run", playground.config, "--out", playground.out, "--gpus", "")
    assert done.returncode == 0, done.stderr
    assert (playground.out / "runs" / "vmf.seed3" / "devices").read_text() == "none\n"


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--beam", "3"), "translated with 1, 5"),
        (("--compare", "ce", "vmf"), "--compare vmf: no run of it has finished"),
    ],
)
def test_report_mistakes(run_cli, finished, arguments, said):
    done = run_cli("experiment", "report", finished, "--samples", "10", *arguments)
    assert done.returncode == 2
    assert said in done.stderr


def test_report_of_nothing(run_cli, finished):
    shutil.rmtree(finished / "runs")
    done = run_cli("experiment", "report", finished)
    assert done.returncode == 2
    assert "has finished yet" in done.stderr
    assert not Path(finished / "report").exists()
