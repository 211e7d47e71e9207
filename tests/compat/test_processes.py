"""One training at a time in a folder, no unconnected copies of one training, and one checkpoint for all of them."""

from __future__ import annotations

import argparse
import multiprocessing
import time
from pathlib import Path

import pytest
import torch
from fairseq.distributed import utils
from omegaconf import OmegaConf

from fairseq_xl.compat import processes
from fairseq_xl.io.errors import InputError

TINY = (
    "--arch lstm --encoder-embed-dim 8 --encoder-hidden-size 8 --decoder-embed-dim 8 --decoder-hidden-size 8 "
    "--decoder-out-embed-dim 8 --optimizer adam --lr 0.01 --batch-size 5 --required-batch-size-multiple 1 "
    "--num-workers 0 --seed 1 --no-progress-bar --cpu "
)


def locked(folder: Path) -> bool:
    try:
        processes._lock(folder)
    except InputError:
        return True
    processes._unlock_all()
    return False


@pytest.mark.slow
def test_a_second_training_in_one_folder_is_refused_until_the_first_is_gone(corpus, command, start, tmp_path):
    line = f"{corpus} {TINY} --save-dir {tmp_path}/out"
    first = start("train", f"{line} --max-epoch 100000 --save-interval 100000 --disable-validation")
    for _ in range(3000):
        if (tmp_path / "out").is_dir() and locked(tmp_path / "out"):
            break
        time.sleep(0.1)
    with pytest.raises(InputError, match=r"another training is writing to .*out: wait until"):
        command("train", f"{line} --max-update 1")
    assert first.is_alive()
    first.kill()
    first.join()
    command("train", f"{line} --max-update 1")
    assert (tmp_path / "out" / "checkpoint_last.pt").is_file()
    assert not locked(tmp_path / "out")


def test_a_process_may_train_again_where_it_trained(tmp_path):
    processes._lock(tmp_path)
    processes._lock(tmp_path)
    processes._unlock_all()
    assert not locked(tmp_path)


def _live(started) -> None:
    started.set()
    time.sleep(60)


def test_children_hold_no_lock(tmp_path):
    """A data loader's workers live on for seconds when the training is killed."""
    processes._lock(tmp_path)
    context = multiprocessing.get_context("fork")
    started = context.Event()
    child = context.Process(target=_live, args=(started,))
    child.start()
    try:
        assert started.wait(60)
        processes._unlock_all()
        assert not locked(tmp_path)
        assert child.is_alive()
    finally:
        child.kill()
        child.join()


@pytest.mark.slow
def test_torchrun_that_would_train_copies_is_refused_with_what_to_add(corpus, by_torchrun, tmp_path):
    done = by_torchrun(f"{corpus} {TINY} --max-update 1 --save-dir {tmp_path}/out")
    assert done.returncode != 0
    assert "torchrun started 2 processes, each of which would train a model of its own" in done.stdout
    assert "--distributed-world-size 2 --distributed-backend gloo --ddp-backend legacy_ddp" in done.stdout
    assert not list((tmp_path / "out").glob("*.pt"))


@pytest.mark.parametrize(
    ("variables", "size"),
    [
        ({}, 0),
        ({"WORLD_SIZE": "2"}, 0),
        ({"WORLD_SIZE": "2", "RANK": "0", "MASTER_ADDR": "x", "MASTER_PORT": "1"}, 2),
        ({"WORLD_SIZE": "two", "RANK": "0", "MASTER_ADDR": "x", "MASTER_PORT": "1"}, 0),
    ],
)
def test_who_started_this(monkeypatch, variables, size):
    for name in ("WORLD_SIZE", "RANK", "MASTER_ADDR", "MASTER_PORT"):
        monkeypatch.delenv(name, raising=False)
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    assert processes._started_by_torchrun() == size


@pytest.mark.parametrize(
    ("tasks", "nodes", "size", "said"),
    [
        (2, 2, 2, "one process on each node, .* Give --ntasks-per-node 2 or more"),
        (4, 2, 8, "srun started 4 processes, and --distributed-world-size is 8"),
        (4, 2, 2, "give fairseq-train --distributed-world-size 4"),
    ],
)
def test_srun_whose_processes_would_not_train_together_is_refused(monkeypatch, tasks, nodes, size, said):
    for name, value in {"NTASKS": tasks, "NNODES": nodes, "PROCID": 0}.items():
        monkeypatch.setenv(f"SLURM_{name}", str(value))
    settings = argparse.Namespace(distributed_world_size=size, pipeline_model_parallel=False)
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    with pytest.raises(InputError, match=said):
        utils._infer_slurm_init(settings, 1)


def test_a_process_of_srun_on_a_cpu_takes_its_number_for_no_gpus(monkeypatch):
    for name, value in {"NTASKS": 2, "NNODES": 1, "PROCID": 1, "LOCALID": 1, "STEP_NODELIST": "here"}.items():
        monkeypatch.setenv(f"SLURM_{name}", str(value))
    monkeypatch.delenv("SLURM_NTASKS_PER_NODE", raising=False)
    settings = argparse.Namespace(distributed_world_size=2, pipeline_model_parallel=False, distributed_port=1)
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    monkeypatch.setattr(utils.subprocess, "check_output", lambda _: b"here\n")
    assert utils._infer_slurm_init(settings, 1)
    assert (settings.distributed_rank, settings.device_id) == (1, 0)


# What a checkpoint holds.
SENT = {
    "args": argparse.Namespace(arch="lstm"),
    "cfg": OmegaConf.create({"model": {"_name": "lstm", "lr": [0.1]}}),
    "model": {"weight": torch.arange(6.0).view(2, 3)},
    "extra_state": {"val_loss": 2.5, "train_iterator": {"epoch": 3}},
}


def share(rank: int, folder: Path) -> None:
    torch.set_num_threads(1)
    torch.distributed.init_process_group("gloo", init_method=f"file://{folder}/met", rank=rank, world_size=2)
    group = torch.distributed.group.WORLD
    received = utils.broadcast_object(SENT if rank == 0 else None, src_rank=0, group=group)
    assert received["args"] == SENT["args"]
    assert received["cfg"] == SENT["cfg"]
    assert received["extra_state"] == SENT["extra_state"]
    assert torch.equal(received["model"]["weight"], SENT["model"]["weight"])
    (folder / str(rank)).touch()


def test_a_checkpoint_reaches_every_process(tmp_path):
    context = multiprocessing.get_context("fork")
    sharing = [context.Process(target=share, args=(rank, tmp_path), daemon=True) for rank in range(2)]
    for process in sharing:
        process.start()
    for process in sharing:
        process.join(120)
    assert [process.exitcode for process in sharing] == [0, 0]
    assert (tmp_path / "0").exists()
    assert (tmp_path / "1").exists()
