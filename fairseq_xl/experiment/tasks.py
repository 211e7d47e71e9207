"""Tasks that a launcher is given, and how one runs.

A launcher takes tasks and returns jobs, and the runner knows no more of it. A task holds a lock file while it runs, and
so do its descendants. A task is started again when the process that watched it was killed. It then waits for the
processes that are still at work and finds their results.
"""

from __future__ import annotations

import fcntl
import os
import subprocess
import threading
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol


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
