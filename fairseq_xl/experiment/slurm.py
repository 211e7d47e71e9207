"""Tasks on a cluster, through submitit."""

from __future__ import annotations

import subprocess
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from fairseq_xl.experiment.tasks import Outcome, Task, execute
from fairseq_xl.io.errors import InputError
from fairseq_xl.io.packages import require

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
