"""Tasks in processes of this machine."""

from __future__ import annotations

import os
import queue
import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field

from fairseq_xl.experiment.tasks import Outcome, Task, execute
from fairseq_xl.io.errors import InputError


@dataclass
class LocalJob:
    future: Future[Outcome]

    def started(self) -> bool:
        return self.future.running() or self.future.done()

    def done(self) -> bool:
        return self.future.done()

    def outcome(self) -> Outcome:
        return self.future.result()


@dataclass
class LocalLauncher:
    """A process for each slot: a GPU (or several, as ``0,1``), or a share of the processors.

    Attributes:
        slots: environment of what runs in each slot.
    """

    slots: list[dict[str, str]]
    running: set[int] = field(default_factory=set)
    futures: list[Future[Outcome]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.free: queue.SimpleQueue[dict[str, str]] = queue.SimpleQueue()
        for slot in self.slots:
            self.free.put(slot)
        self.pool = ThreadPoolExecutor(len(self.slots))
        self.stopped = threading.Event()

    def submit(self, task: Task) -> LocalJob:
        self.futures.append(self.pool.submit(self._run, task))
        return LocalJob(self.futures[-1])

    def _run(self, task: Task) -> Outcome:
        slot = self.free.get()
        try:
            return execute(task, slot, self.running, self.stopped)
        except OSError as error:  # no log, no memory, no process: a failure of this task alone
            return Outcome(1, time.time(), 0.0, 0.0, f"it could not be started: {error}")
        finally:
            self.free.put(slot)

    def stop(self, patience: float = 10.0) -> None:
        self.pool.shutdown(wait=False, cancel_futures=True)
        self.stopped.set()
        deadline = time.monotonic() + patience
        asked: set[int] = set()
        # A task that was about to start may join `running` while the others are being stopped.
        while any(future.running() for future in self.futures):
            late = time.monotonic() > deadline
            for group in set(self.running) if late else self.running - asked:
                try:
                    os.killpg(group, signal.SIGKILL if late else signal.SIGTERM)
                except ProcessLookupError:
                    continue
                asked.add(group)
            time.sleep(0.05)
        self.pool.shutdown(wait=True)


def local_slots(gpus: list[str], per_cell: int, jobs: int, hide: bool = False) -> list[dict[str, str]]:
    """The slots of this machine: ``jobs`` that share each group of ``per_cell`` GPUs, or the processors.

    Args:
        hide: where ``gpus`` is empty, keep cells from seeing any that the machine may have.

    Raises:
        InputError: fewer GPUs than one cell wants.
    """
    if per_cell > max(1, len(gpus)):
        raise InputError(f"--gpus-per-cell {per_cell}, but there are {len(gpus)} GPUs")
    whole = len(gpus) // per_cell * per_cell
    groups = [gpus[first : first + per_cell] for first in range(0, whole, per_cell)]
    without = {"CUDA_VISIBLE_DEVICES": ""} if hide else {}
    shares = [{"CUDA_VISIBLE_DEVICES": ",".join(group)} for group in groups] or [without]
    slots = shares * jobs
    if jobs > 1 and "OMP_NUM_THREADS" not in os.environ:
        threads = {"OMP_NUM_THREADS": str(max(1, (os.cpu_count() or 1) // len(slots)))}
        slots = [{**slot, **threads} for slot in slots]
    return slots


def visible_gpus() -> list[str]:
    """The numbers of this machine's NVIDIA GPUs, as far as CUDA_VISIBLE_DEVICES shows them."""
    named = os.environ.get("CUDA_VISIBLE_DEVICES")
    if named is not None:
        return [gpu.strip() for gpu in named.split(",") if gpu.strip() not in ("", "-1")]
    try:
        listed = subprocess.run(
            ["nvidia-smi", "--query-gpu=index", "--format=csv,noheader"], capture_output=True, text=True, check=True
        )
    except OSError:
        return []  # no driver, so no GPU
    except subprocess.CalledProcessError as error:
        said = (error.stdout.strip() or error.stderr.strip() or "nothing").splitlines()[0]
        print(f"nvidia-smi finds no GPU, so everything runs on the processors; it says: {said}", file=sys.stderr)
        return []
    return listed.stdout.split()
