"""The processes of a training share what the first one has read."""

from __future__ import annotations

import argparse
import multiprocessing
from pathlib import Path

import torch
from fairseq.distributed import utils
from omegaconf import OmegaConf

from fairseq_xl import compat

compat.apply()

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
    processes = [context.Process(target=share, args=(rank, tmp_path), daemon=True) for rank in range(2)]
    for process in processes:
        process.start()
    for process in processes:
        process.join(120)
    assert [process.exitcode for process in processes] == [0, 0]
    assert (tmp_path / "0").exists()
    assert (tmp_path / "1").exists()
