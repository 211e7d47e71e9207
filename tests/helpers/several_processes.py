"""Trainings in several processes: by torchrun, by Slurm, and what must be as in one."""

from __future__ import annotations

import os
import shlex
import subprocess
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any

import pytest
import slurm
from trainings import last_figures

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="session")
def by_torchrun(forks) -> Callable[[str], subprocess.CompletedProcess[str]]:
    """``by_torchrun("DATA --task …")`` runs fairseq-train in two processes; its output holds both's."""
    return partial(_launch, forks, ["torchrun", "--standalone", "--nproc-per-node", "2", "--no-python"])


@pytest.fixture(scope="session")
def by_two_agents(forks) -> Callable[[str], subprocess.CompletedProcess[str]]:
    """The same by a torchrun for each of two machines, which here are one and meet on its loopback."""

    def train(line: str) -> subprocess.CompletedProcess[str]:
        (port,) = slurm.free_ports(1)
        meet = ["--rdzv-backend", "c10d", "--rdzv-endpoint", f"127.0.0.1:{port}", "--local-addr", "127.0.0.1"]
        launch = ["torchrun", "--nnodes", "2", "--nproc-per-node", "1", *meet, "--no-python"]
        with ThreadPoolExecutor(2) as pool:
            agents = [pool.submit(_launch, forks, launch, line) for _ in range(2)]
            one, other = (agent.result() for agent in agents)
        return subprocess.CompletedProcess(launch, one.returncode or other.returncode, one.stdout + other.stdout)

    return train


@pytest.fixture(scope="session")
def by_srun(forks, slurm_cluster) -> Callable[[str], subprocess.CompletedProcess[str]]:
    """The same by Slurm, in two processes on each of two nodes."""

    def train(line: str) -> subprocess.CompletedProcess[str]:
        (port,) = slurm.free_ports(1)
        launch = ["srun", "--kill-on-bad-exit", "--nodes", "2", "--ntasks-per-node", "2"]
        line = f"{line} --distributed-port {port}"
        return _launch(forks, launch, line, env={**os.environ, **slurm_cluster})

    return train


def _launch(forks: Any, launch: list[str], line: str, **options: Any) -> subprocess.CompletedProcess[str]:
    options |= {"capture_output": False, "stdout": subprocess.PIPE, "stderr": subprocess.STDOUT}
    return forks.run(
        *launch, "fairseq-train", *shlex.split(line), "--user-dir", ROOT / "fairseq_xl", "--cpu", **options
    )


@pytest.fixture(scope="session")
def slurm_cluster() -> Iterator[dict[str, str]]:
    """What the environment needs for ``srun`` and ``sbatch`` to find a Slurm of two nodes, started for the tests."""
    slurm.find()
    with slurm.cluster() as environment:
        yield environment


@pytest.fixture(scope="session")
def assert_processes_do_as_one(fairseq_train, by_torchrun, validate) -> Callable[..., dict[str, float]]:
    """Two processes, of which each has every second batch, do what one does with ``--update-freq 2``.

    Sums of floats in another order differ: weights may by 1e-4, the validation loss by 2e-3 of itself. Every figure
    of the two's last validation is the one that a single process finds for the same weights. Returns them.
    """
    import torch

    from fairseq_xl.training import checkpoints

    connected = "--distributed-backend gloo --ddp-backend legacy_ddp"

    def check(line: str, folder: Path, launch: Any = by_torchrun, processes: int = 2) -> dict[str, float]:
        fairseq_train(f"{line} --cpu --update-freq {processes} --save-dir {folder}/one")
        done = launch(
            f"{line} --distributed-world-size {processes} {connected} --log-format json --save-dir {folder}/two"
        )
        assert done.returncode == 0, done.stdout[-3000:]
        one, two = (checkpoints.read(folder / name / "checkpoint_last.pt") for name in ("one", "two"))
        assert checkpoints.updates(one) == checkpoints.updates(two) > 1
        for name, tensor in one["model"].items():
            assert torch.allclose(tensor.double(), two["model"][name].double(), atol=1e-4), name
        assert one["extra_state"]["val_loss"] == pytest.approx(two["extra_state"]["val_loss"], rel=2e-3)
        said = last_figures(done.stdout.splitlines())
        alone = validate(line, folder / "two" / "checkpoint_last.pt")
        assert {name for name in said if not name.startswith("best_")} == alone.keys()
        assert {name: said[name] for name in alone} == pytest.approx(alone, rel=1e-3, abs=2e-3)
        return said

    return check


@pytest.fixture(scope="session")
def assert_processes_share_each_epoch() -> Callable[[Callable[[], Any]], None]:
    """``assert_processes_share_each_epoch(MAKE)``: of the data set that every process makes, each has other samples,
    together they have all, and so in another order in the next epoch."""
    from fairseq.tasks import FairseqTask

    def check(make: Callable[[], Any]) -> None:
        def ids(epoch: int, shards: int, shard: int) -> list[int]:
            batches = FairseqTask(None).get_batch_iterator(
                make(), max_sentences=8, seed=1, epoch=epoch, num_shards=shards, shard_id=shard
            )
            return [i for batch in batches.next_epoch_itr(shuffle=True) if batch for i in batch["id"].tolist()]

        whole = ids(2, 1, 0)
        assert sorted(whole) == list(range(len(make())))
        assert sorted(ids(2, 2, 0) + ids(2, 2, 1)) == sorted(whole)
        assert ids(2, 1, 0) == whole != ids(3, 1, 0)

    return check
