"""Where a task runs: in processes of this machine, or on a cluster through submitit.

A launcher takes tasks and returns jobs, and the runner knows no more of it. A task holds a lock file while it runs, and
so do its descendants. A task is started again when the process that watched it was killed. It then waits for the
processes that are still at work and finds their results.
"""

from __future__ import annotations

import fcntl
import os
import queue
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

from fairseq_xl.experiment.settings import LaunchSettings
from fairseq_xl.io.errors import InputError
from fairseq_xl.io.packages import require
from fairseq_xl.io.settings import names_and_values, refuse_given


@dataclass(frozen=True)
class Task:
    """A command with the log that its output is added to, and the lock that keeps a second one away."""

    name: str
    command: list[str]
    log: Path
    lock: Path


@dataclass(frozen=True)
class Outcome:
    """How a task ended. ``status`` is its exit status, or the negative number of the signal that ended it. ``began`` is
    in seconds since 1970, and ``peak_MiB`` is the resident memory of its largest process. ``reason`` says why where the
    task's log cannot say it."""

    status: int
    began: float
    seconds: float
    peak_MiB: float
    reason: str | None = None


class Job(Protocol):
    """A task that was handed over."""

    def started(self) -> bool: ...
    def done(self) -> bool: ...
    def outcome(self) -> Outcome:
        """Of a job that is done."""


class Launcher(Protocol):
    """Hands tasks to whoever runs them."""

    def submit(self, task: Task) -> Job: ...
    def stop(self) -> None:
        """End what is running and forget what waits."""


def execute(
    task: Task,
    environment: dict[str, str],
    running: set[int] | None = None,
    stopped: threading.Event | None = None,
) -> Outcome:
    """Run a task here, to its end.

    ``running`` holds the process group while it runs, for whoever may want to stop it. Where ``stopped`` is set, an
    earlier start of the task is not waited for any longer.
    """
    for path in (task.log, task.lock):
        path.parent.mkdir(parents=True, exist_ok=True)
    with task.lock.open("a") as lock, task.log.open("ab") as log:
        # Inherited by every descendant, under a number that no recipe uses itself.
        inherited = fcntl.fcntl(lock, fcntl.F_DUPFD, 100)
        try:
            if not _acquired(inherited):
                log.write(b"waiting for an earlier start of this run, which is still at work\n")
                log.flush()
                while not _acquired(inherited):
                    if stopped is not None and stopped.is_set():
                        return Outcome(1, time.time(), 0.0, 0.0, "it was stopped while an earlier start was at work")
                    time.sleep(0.2)
            began, start = time.time(), time.monotonic()
            child = subprocess.Popen(
                task.command,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                env={**os.environ, **environment},
                start_new_session=True,
                pass_fds=(inherited,),
            )
            if running is not None:
                running.add(child.pid)
            # wait4 counts this child and its descendants alone
            _, status, usage = os.wait4(child.pid, 0)
            child.returncode = os.waitstatus_to_exitcode(status)
            if running is not None:
                running.discard(child.pid)
        finally:
            os.close(inherited)
    return Outcome(child.returncode, began, time.monotonic() - start, usage.ru_maxrss / 1024)


def _acquired(file: int) -> bool:
    """Lock a file where nobody else has; whether it was so."""
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


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


ASK_SECONDS = 15.0
"""How often Slurm's queue is asked about a job of which its accounting says nothing."""


@dataclass
class SubmititJob:
    """submitit asks ``sacct``, which knows nothing where Slurm keeps no accounts; then ``squeue`` is asked.

    Otherwise a job that is cancelled, or killed before it writes a result, would be waited for until the end of days.
    """

    job: Any
    asked: float = -ASK_SECONDS
    queued: str = "UNKNOWN"
    missed: int = 0
    """how often in turn the queue had no such job"""

    def started(self) -> bool:
        return "RUNNING" in (self.job.state, self.queued) or self.job.done()

    def done(self) -> bool:
        if self.job.done():
            return True
        if self.job.state == "UNKNOWN" and time.monotonic() - self.asked >= ASK_SECONDS:
            self.asked = time.monotonic()
            self._ask()
        # Twice, for a result may take its time on a disk that machines share.
        return self.missed > 1

    def _ask(self) -> None:
        command = ["squeue", "--noheader", "--format=%T", f"--jobs={self.job.job_id}"]
        try:
            said = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
        except (OSError, subprocess.TimeoutExpired):
            return  # no Slurm (submitit's stand-in), or a busy one
        if said.returncode and "Invalid job id" not in said.stderr:
            return
        self.queued = said.stdout.strip() or "GONE"
        self.missed = self.missed + 1 if self.queued == "GONE" else 0

    def outcome(self) -> Outcome:
        if not self.job.done():
            return Outcome(1, time.time(), 0.0, 0.0, f"Slurm ended job {self.job.job_id}, which left no result")
        try:
            return self.job.result()
        except Exception as error:
            # Cancelled, out of time, a node lost: the cell failed, and submitit's own log has all that is known.
            with Path(self.job.paths.stderr).open("a", encoding="utf-8") as log:
                log.write(f"\n{error}\n")
            lines = [line.strip() for line in str(error).splitlines() if line.strip()]
            return Outcome(1, time.time(), 0.0, 0.0, lines[-1] if lines else type(error).__name__)


class SubmititLauncher:
    """Hands each task to Slurm through submitit.

    Args:
        folder: for submitit's own files, on a disk that all machines share.
        cluster: ``slurm``, or ``local`` to try it on one machine.
        parameters: of submitit's executor, as its names are: ``slurm_partition``, ``gpus_per_node``,
            ``cpus_per_task``, ``timeout_min``, …

    Raises:
        InputError: submitit is missing, there is no Slurm here, or it knows no such parameter.
    """

    def __init__(self, folder: Path, cluster: str, parameters: dict[str, int | str]):
        submitit = require("submitit", "cluster", "--launcher slurm")
        try:
            self.executor = submitit.AutoExecutor(folder=folder, cluster=cluster)
            self.executor.update_parameters(**parameters)
        except (NameError, TypeError, ValueError, RuntimeError) as error:
            raise InputError(f"submitit refuses: {error}") from None
        self.jobs: list[SubmititJob] = []

    def submit(self, task: Task) -> SubmititJob:
        self.jobs.append(SubmititJob(self.executor.submit(execute, task, {})))
        return self.jobs[-1]

    def stop(self) -> None:
        for handed in self.jobs:
            if not handed.done():
                handed.job.cancel()


def make_launcher(settings: LaunchSettings, folder: Path) -> Launcher:
    """The launcher that the settings ask for; submitit's own files go into ``folder``.

    Raises:
        InputError: settings that do not go together, fewer GPUs than a cell wants, or no submitit.
    """
    if settings.launcher == "slurm":
        local = ["gpus", "gpus_per_cell", "jobs"]
        refuse_given(settings, local, "is for this machine, and --slurm gpus_per_node=N gives a cluster's job GPUs")
        return SubmititLauncher(folder, "slurm", _parameters(settings.slurm))
    if settings.slurm:
        raise InputError("--slurm is for --launcher slurm: give both or neither")
    named = None if settings.gpus is None else [gpu for gpu in settings.gpus.split(",") if gpu]
    gpus = visible_gpus() if named is None else named
    slots = local_slots(gpus, settings.gpus_per_cell or 1, settings.jobs or 1, hide=named is not None)
    return LocalLauncher(slots)


def _parameters(words: Sequence[str]) -> dict[str, int | str]:
    given = names_and_values(words, "--slurm")
    return {name: int(value) if value.isdecimal() else value for name, value in given.items()}


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
