"""Processes that should know of each other: trainings of one folder, and torchrun's copies with what they share."""

from __future__ import annotations

import fcntl
import io
import os
from pathlib import Path
from typing import Any

import torch

from fairseq_xl.compat.patching import Stock, loaded, replace
from fairseq_xl.io.atomic import real_path
from fairseq_xl.io.errors import InputError

_held: dict[Path, int] = {}
"""A folder that this process trains into -> the descriptor that holds its lock."""


def refuse_a_second_training() -> None:
    """Let one training at a time write to a checkpoint folder.

    Broken: two trainings with the same ``--save-dir`` overwrite each other's checkpoints, and each continues from the
    other's. The first process of a training calls ``verify_checkpoint_directory`` before it writes anything. The folder
    is locked from then on until the training ends, however it ends. One that cannot be written to is refused, too.
    """
    from fairseq import checkpoint_utils

    @replace(checkpoint_utils, "verify_checkpoint_directory")
    def verify_checkpoint_directory(stock: Stock, save_dir: str) -> None:
        try:
            os.makedirs(save_dir, exist_ok=True)
            _lock(real_path(Path(save_dir)))
            stock(save_dir)
        except OSError as error:
            raise InputError(f"cannot write to --save-dir {save_dir}: {error.strerror}") from error

    def main(stock: Stock, *args: Any, **kwargs: Any) -> Any:
        try:
            return stock(*args, **kwargs)
        finally:
            _unlock_all()

    for module in loaded("fairseq_cli.train"):
        replace(module, "main")(main)


def _lock(folder: Path) -> None:
    if folder in _held:
        return
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(descriptor)
        raise InputError(
            f"another training is writing to {folder}: wait until it has ended, or give this one its own --save-dir"
        ) from None
    except OSError:
        # Some network file systems have no locks. No training is refused there.
        os.close(descriptor)
        return
    _held[folder] = descriptor


def _unlock_all() -> None:
    while _held:
        os.close(_held.popitem()[1])


# A data loader's worker outlives a killed training for some seconds and must not hold its lock.
os.register_at_fork(after_in_child=_unlock_all)


def refuse_unconnected_copies() -> None:
    """Refuse several processes of ``torchrun`` that fairseq would not connect.

    Broken: fairseq looks at torchrun's variables only if its world has more than one process. By default the world's
    size is the number of GPUs of this machine. On a CPU, or on several machines with one GPU each, every process trains
    a model of its own. It writes that over the others' without a warning.
    """
    from fairseq.trainer import Trainer

    @replace(Trainer, "__init__")
    def __init__(stock: Stock, self: Any, cfg: Any, *args: Any, **kwargs: Any) -> None:
        started = _started_by_torchrun()
        if started > 1 and cfg.distributed_training.distributed_world_size == 1:
            on_cpu = "" if torch.cuda.is_available() else " --distributed-backend gloo --ddp-backend legacy_ddp"
            raise InputError(
                f"torchrun started {started} processes, each of which would train a model of its own: add "
                f"--distributed-world-size {started}{on_cpu} to fairseq-train's options, or start it without torchrun"
            )
        stock(self, cfg, *args, **kwargs)


def take_torchruns_numbers_on_a_cpu() -> None:
    """Let the processes of ``torchrun`` train together on a CPU.

    Broken: fairseq takes the number of a process modulo the number of GPUs, which is zero.
    """
    from fairseq.distributed import utils

    @replace(utils, "_infer_torch_distributed_launch_init")
    def _infer_torch_distributed_launch_init(stock: Stock, cfg: Any) -> None:
        if torch.cuda.device_count() > 0:
            stock(cfg)
            return
        cfg.distributed_init_method = "env://"
        cfg.distributed_world_size = int(os.environ["WORLD_SIZE"])
        cfg.distributed_rank = int(os.environ["RANK"])
        cfg.device_id = 0  # by default torchrun's LOCAL_RANK, taken for a GPU
        cfg.distributed_no_spawn = True  # torchrun has started the processes


def take_slurms_numbers_on_a_cpu() -> None:
    """Let the processes of ``srun`` train together on a CPU.

    Broken: the second task of a node takes its number for a GPU's, also where there is none.
    """
    from fairseq.distributed import utils

    @replace(utils, "_infer_slurm_init")
    def _infer_slurm_init(stock: Stock, cfg: Any, num_pipelines_per_node: int) -> Any:
        found = stock(cfg, num_pipelines_per_node)
        if not torch.cuda.is_available():
            cfg.device_id = 0
        return found


def refuse_miscounted_slurm_tasks() -> None:
    """Refuse numbers of ``srun``'s tasks that fairseq would miscount.

    Broken: without GPUs, one task on each node counts no processes and ends well, untrained. With several tasks on each
    node, a size other than theirs stops at an ``assert``.
    """
    from fairseq.distributed import utils

    @replace(utils, "_infer_slurm_init")
    def _infer_slurm_init(stock: Stock, cfg: Any, num_pipelines_per_node: int) -> Any:
        tasks, nodes = _tasks_of_slurm()
        size = cfg.distributed_world_size
        if tasks == nodes > 0 and not torch.cuda.is_available():
            raise InputError(
                "srun started one process on each node, and fairseq expects one for each GPU, but there are none. "
                "Give --ntasks-per-node 2 or more, or start the training by torchrun"
            )
        if tasks > nodes and size != tasks and not cfg.pipeline_model_parallel:
            raise InputError(
                f"srun started {tasks} processes, and --distributed-world-size is {size}: give fairseq-train "
                f"--distributed-world-size {tasks}"
            )
        return stock(cfg, num_pipelines_per_node)


def _tasks_of_slurm() -> tuple[int, int]:
    """How many processes srun started, and on how many nodes. Both are 0 if it started none."""
    numbers = [os.environ.get(f"SLURM_{name}", "") for name in ("NTASKS", "NNODES")]
    if "SLURM_PROCID" not in os.environ or not all(map(str.isdecimal, numbers)):
        return 0, 0
    tasks, nodes = map(int, numbers)
    return tasks, nodes


def _started_by_torchrun() -> int:
    """The number of processes that torchrun started, or 0 if it started none."""
    if not all(name in os.environ for name in ("MASTER_ADDR", "MASTER_PORT", "WORLD_SIZE", "RANK")):
        return 0
    size = os.environ["WORLD_SIZE"]
    return int(size) if size.isdecimal() else 0


def receive_what_was_broadcast() -> None:
    """Let the other processes of a training read what the first one sends.

    Broken: only the first process reads the checkpoint, and it sends it to the others. Since torch 2.6 their
    ``torch.load`` refuses the configuration in it. No training in several processes could therefore resume after an
    interruption. What is read here comes from the training's own first process, never from a file.
    """
    from fairseq.distributed import utils

    @replace(utils, "_broadcast_object_slow")
    def _broadcast_object_slow(stock: Stock, obj: Any, src_rank: int, group: Any, dist_device: torch.device) -> Any:
        if utils.get_rank(group) == src_rank:
            return stock(obj, src_rank, group, dist_device)
        length = torch.zeros(1, dtype=torch.long, device=dist_device)
        utils.broadcast(length, src=src_rank, group=group)
        received = torch.empty(int(length), dtype=torch.uint8, device=dist_device)
        utils.broadcast(received, src=src_rank, group=group)
        return torch.load(io.BytesIO(received.cpu().numpy().tobytes()), map_location="cpu", weights_only=False)
