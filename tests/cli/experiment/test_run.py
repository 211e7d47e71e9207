"""``fairseq-xl experiment run`` and ``status`` as a user types them."""

import json

import pytest

from fairseq_xl.experiment.state import RUNNING, lock_of
from fairseq_xl.io.atomic import exclusive_lock


def test_run_and_status(forked_cli, playground):
    done = forked_cli("experiment", "run", playground.config, "--output", playground.out, "--gpus", "")
    assert done.returncode == 0, done.stderr
    assert [line.split()[:2] for line in done.stdout.splitlines()] == [
        ["vmf.seed3", "done"],
        ["cosine.seed1", "done"],
        ["cosine.seed2", "done"],
    ]
    assert "vmf.seed3: started" in done.stderr
    assert forked_cli("experiment", "status", playground.out).stdout == done.stdout


def test_what_no_process_works_on_any_more_was_killed(forked_cli, playground):
    assert forked_cli("experiment", "run", playground.config, "--output", playground.out).returncode == 0
    path = playground.out / "experiment.json"
    stored = json.loads(path.read_text())
    stored["cells"]["vmf.seed3"]["status"] = RUNNING
    path.write_text(json.dumps(stored))

    def statuses() -> list[str]:
        return [line.split()[1] for line in forked_cli("experiment", "status", playground.out).stdout.splitlines()]

    assert statuses() == ["killed", "done", "done"]
    for cell in (None, "vmf.seed3"):
        with exclusive_lock(lock_of(playground.out, cell), "held"):
            assert statuses() == ["running", "done", "done"]
    said = forked_cli("experiment", "report", playground.out).stderr
    assert "runs are running" not in said
    others = ("experiment", "run", playground.config, "--output", playground.out, "--only", "cosine")
    assert forked_cli(*others).returncode == 0
    assert statuses() == ["pending", "done", "done"]


def test_failure_shows_in_the_status(forked_cli, playground):
    playground.tell("vmf.seed3", "fails")
    done = forked_cli("experiment", "run", playground.config, "--output", playground.out)
    assert done.returncode == 1
    assert "vmf.seed3" in done.stdout
    assert "error: vmf.seed3 was told to fail" in done.stdout


def test_dry_run_runs_nothing(forked_cli, playground):
    arguments = ("--output", playground.out, "--dry-run", "--only", "cosine", "--set", "src=fr", "--set", "size=9")
    done = forked_cli("experiment", "run", playground.config, *arguments)
    lines = done.stdout.splitlines()
    assert len(lines) == 3
    assert "--prepare-only --src fr" in lines[0]
    assert lines[2].endswith("--name cosine.seed2 --src fr --size 9 --loss cosine --seed 2")
    assert "note" not in done.stderr
    assert not playground.out.exists()
    assert playground.calls() == []


def test_an_option_that_a_system_has_itself_is_not_changed_silently(forked_cli, playground):
    playground.write("recipe: recipe.sh\nsystems: {vmf: {options: {size: 8}}, cosine: }")
    done = forked_cli(
        "experiment", "run", playground.config, "--output", playground.out, "--dry-run", "--set", "size=9"
    )
    assert [line.split("--size ")[1][0] for line in done.stdout.splitlines() if "--name" in line] == ["8", "9"]
    assert "note: --set size leaves what is named for the system: vmf" in done.stderr


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("status", "nowhere"), "there is no nowhere/experiment.json"),
        (("run", "CONFIG", "--output", "x", "--slurm", "a=1"), "--slurm is for --launcher slurm"),
        (("run", "CONFIG", "--output", "x", "--gpus", "0", "--gpus-per-cell", "2"), "there are 1 GPUs"),
        (("run", "CONFIG", "--output", "x", "--launcher", "slurm", "--jobs", "2"), "--jobs is for this machine"),
        (("run", "CONFIG", "--output", "CONFIG"), "is read, too (config)"),
        (("run", "CONFIG", "--output", "/dev/null/x"), "this folder cannot be made"),
    ],
)
def test_mistakes(forked_cli, playground, tmp_path, monkeypatch, arguments, said):
    monkeypatch.chdir(tmp_path)
    done = forked_cli("experiment", *(str(playground.config) if word == "CONFIG" else word for word in arguments))
    assert done.returncode == 2
    assert said in done.stderr
    assert "Traceback" not in done.stderr


def test_no_gpus_are_hidden_ones(forked_cli, playground, monkeypatch):
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "0,1")
    done = forked_cli("experiment", "run", playground.config, "--output", playground.out, "--gpus", "")
    assert done.returncode == 0, done.stderr
    assert (playground.out / "runs" / "vmf.seed3" / "devices").read_text() == "none\n"
