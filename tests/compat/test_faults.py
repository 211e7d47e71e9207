"""A full disk, a folder that cannot be written, a clock that jumps, no home: a sentence, or nothing at all."""

from __future__ import annotations

import itertools
import os
import resource
import time
from contextlib import contextmanager
from pathlib import Path

import pytest
import torch

from fairseq_xl.io.errors import InputError
from fairseq_xl.training import checkpoints

TRAINING = (
    "--arch lstm --encoder-embed-dim 8 --encoder-hidden-size 8 --decoder-embed-dim 8 --decoder-hidden-size 8 "
    "--decoder-out-embed-dim 8 --dropout 0.2 --optimizer adam --lr 0.01 --batch-size 10 --num-workers 0 --seed 1 "
    "--required-batch-size-multiple 1 --no-progress-bar --cpu "
)


def weights(folder: Path) -> dict[str, torch.Tensor]:
    return checkpoints.read(folder / "checkpoint_last.pt")["model"]


@pytest.fixture
def full_disk():
    """Within it no file can grow beyond some bytes."""

    @contextmanager
    def full(room: int = 20_000):
        before = resource.getrlimit(resource.RLIMIT_FSIZE)
        resource.setrlimit(resource.RLIMIT_FSIZE, (room, before[1]))
        try:
            yield
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, before)

    return full


@pytest.mark.slow
def test_a_full_disk_loses_nothing_and_training_goes_on(corpus, command, full_disk, tmp_path):
    line = f"{corpus} {TRAINING} --save-dir {tmp_path}"
    command("train", f"{line}/whole --max-epoch 3")
    command("train", f"{line}/parts --max-epoch 1")
    before = {path.name: path.read_bytes() for path in (tmp_path / "parts").iterdir()}
    with (
        full_disk(),
        pytest.raises(InputError, match=r"cannot write .*\.pt: File too large; what was there before is whole"),
    ):
        command("train", f"{line}/parts --max-epoch 3")
    assert {path.name: path.read_bytes() for path in (tmp_path / "parts").iterdir()} == before
    command("train", f"{line}/parts --max-epoch 3")
    whole, parts = weights(tmp_path / "whole"), weights(tmp_path / "parts")
    for name, tensor in whole.items():
        assert torch.equal(tensor, parts[name]), name


def test_a_table_that_does_not_fit(full_disk, run_cli, tmp_path):
    (tmp_path / "dict.txt").write_text("".join(f"w{n} 1\n" for n in range(500)))
    arguments = ["vectors", "random", "--dict", tmp_path / "dict.txt", "--dim", 50, "--output", tmp_path / "a.vec"]
    with full_disk():
        done = run_cli(*arguments)
    assert done.returncode == 2
    assert done.stderr.startswith("error: cannot write ")
    assert [path.name for path in tmp_path.iterdir()] == ["dict.txt"]
    assert run_cli(*arguments).returncode == 0


@pytest.mark.parametrize("room", [3000, 20_000])
def test_a_database_that_does_not_fit(full_disk, run_cli, tmp_path, room):
    (tmp_path / "sentences.tsv").write_text("".join(f"uno {n}\tparcel {n} a{n}\n" for n in range(5000)))
    output = tmp_path / "out" / "pairs.tsv"
    arguments = ["match", "transfer-labels", "--sentences", tmp_path / "sentences.tsv", "-o", output]
    with full_disk(room):
        done = run_cli(*arguments)
    assert done.returncode == 2
    assert done.stderr.splitlines()[-1].startswith(f"error: the database {tmp_path}/out/.pairs.tsv.")
    assert "Traceback" not in done.stderr
    assert not list((tmp_path / "out").iterdir())


@pytest.mark.parametrize("folder", ["/proc/no/such", "/proc/self/task"])
def test_a_folder_that_cannot_be_written(corpus, command, folder):
    with pytest.raises(InputError, match=f"cannot write to --save-dir {folder}: "):
        command("train", f"{corpus} {TRAINING} --max-update 1 --save-dir {folder}")


@pytest.mark.slow
def test_a_clock_that_jumps_changes_nothing(corpus, command, tmp_path, monkeypatch):
    line = f"{corpus} {TRAINING} --max-epoch 2 --save-dir {tmp_path}"
    command("train", f"{line}/steady")
    jumps, clock = itertools.cycle([0.0, 86_400.0, -86_400.0]), time.time
    monkeypatch.setattr(time, "time", lambda: clock() + next(jumps))
    command("train", f"{line}/jumping")
    steady, jumping = weights(tmp_path / "steady"), weights(tmp_path / "jumping")
    for name, tensor in steady.items():
        assert torch.equal(tensor, jumping[name]), name


def test_no_home(run_cli, make_run, tmp_path):
    run = make_run("a")
    env = {name: value for name, value in os.environ.items() if name not in ("USER", "LOGNAME")}
    env["HOME"] = "/proc/nobody"
    done = run_cli("experiment", "curves", run / "train.log", "--output", tmp_path / "curves.png", env=env)
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "curves.png").stat().st_size > 5000
