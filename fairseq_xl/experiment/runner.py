"""Running the cells of an experiment: data prepared once, then each cell's recipe, and nothing lost by a kill."""

from __future__ import annotations

import fnmatch
import signal
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from graphlib import TopologicalSorter
from pathlib import Path

from fairseq_xl.experiment.config import Cell, Experiment
from fairseq_xl.experiment.progress import Display, last_lines
from fairseq_xl.experiment.state import DONE, FAILED, PENDING, RUNNING, State, lock_of
from fairseq_xl.experiment.tasks import Job, Launcher, Outcome, Task
from fairseq_xl.io.atomic import exclusive_lock, is_held
from fairseq_xl.io.errors import InputError

POLL_SECONDS = 0.5
CLOCK_SLACK = 1.0
"""Seconds by which a file's time may lag behind the clock."""


def choose(experiment: Experiment, only: list[str]) -> list[Cell]:
    """The cells whose name or system matches one of the patterns; all where there are none.

    Raises:
        InputError: a pattern that matches nothing.
    """
    if not only:
        return experiment.cells
    for pattern in only:
        if not any(_matches(cell, pattern) for cell in experiment.cells):
            names = ", ".join(cell.name for cell in experiment.cells)
            raise InputError(f"--only {pattern!r} matches no cell of {experiment.path}: there are {names}")
    return [cell for cell in experiment.cells if any(_matches(cell, pattern) for pattern in only)]


def _matches(cell: Cell, pattern: str) -> bool:
    return fnmatch.fnmatchcase(cell.name, pattern) or fnmatch.fnmatchcase(cell.system, pattern)


def commands(cells: list[Cell], out: Path) -> Iterator[list[str]]:
    """What a run will call: each preparation once, then the cells, those that need another's run after it."""
    for cell in _preparing(cells):
        yield cell.preparing_command(out)
    by_name = {cell.name: cell for cell in cells}
    for name in TopologicalSorter({cell.name: cell.needs for cell in cells}).static_order():
        if name in by_name:
            yield by_name[name].command(out)


def _preparing(cells: list[Cell]) -> list[Cell]:
    """One cell for each set of prepared data; cells that need another's run prepare what they train on themselves."""
    first = {(cell.recipe, cell.preparation()): cell for cell in reversed(cells) if not cell.needs}
    return list(first.values())[::-1]


@contextmanager
def claimed(out: Path) -> Iterator[None]:
    """One runner at a time in a folder, which is new, empty, or was begun by a recipe.

    Raises:
        InputError: another one is at work, the folder cannot be made, or it holds what no recipe wrote.
    """
    mark = out / ".fairseq_xl-recipe"  # as begin_in of recipes/lib/common.sh has it
    try:
        out.mkdir(parents=True, exist_ok=True)
        if not mark.exists():
            if any(out.iterdir()):
                raise InputError(f"--output {out}: it holds files that no recipe wrote; name a new folder")
            mark.write_text("A recipe of fairseq_xl writes here, and replaces what it wrote.\n")
    except OSError as error:
        raise InputError(f"--output {out}: this folder cannot be made ({error.strerror}); name another one") from None
    with exclusive_lock(lock_of(out), f"another process runs an experiment in {out}: wait, or give another --output"):
        yield


@contextmanager
def ended_by_signals() -> Iterator[None]:
    """Let a plain ``kill`` and a closed terminal end this process as Ctrl-C does, by an exception.

    Only the main thread can do so. A signal that is ignored, as SIGHUP is under ``nohup``, stays ignored.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    heeded = [n for n in (signal.SIGTERM, signal.SIGHUP) if signal.getsignal(n) != signal.SIG_IGN]

    def end(number: int, _: object) -> None:
        for other in heeded:  # A shell and the terminal's driver each send SIGHUP: the second would end the clean-up.
            signal.signal(other, signal.SIG_IGN)
        sys.exit(128 + number)

    previous = {number: signal.signal(number, end) for number in heeded}
    try:
        yield
    finally:
        for number, handler in previous.items():
            signal.signal(number, handler)


class Runner:
    """One run of some cells of an experiment, in a folder."""

    def __init__(self, experiment: Experiment, cells: list[Cell], out: Path, launcher: Launcher, display: Display):
        self.out = out
        self.launcher = launcher
        self.display = display
        self.state = State(out / "experiment.json")
        self.state.describe(experiment)
        for cell in experiment.cells:
            known = self.state[cell.name]
            if known.status == DONE and known.command != cell.command(out):
                # Whether or not it is run now, its label speaks of other settings than those it was made with.
                known.status = PENDING
            if known.status == RUNNING and not is_held(lock_of(out, cell.name)):  # it was killed
                known.status = PENDING
        open_cells = self._open(experiment, cells)
        self.cells = [cell for cell in cells if cell.name in open_cells]
        self.skipped = len(cells) - len(self.cells)
        self.jobs: dict[str, Job] = {}

    def _open(self, experiment: Experiment, cells: list[Cell]) -> set[str]:
        """The names of those that are not done, or were done with a run that is to be made anew.

        Other cells of the experiment that were done with such a run are no longer done.

        Raises:
            InputError: a cell needs a run that is neither done nor among these.
        """
        by_name = {cell.name: cell for cell in cells}
        needs = {cell.name: cell.needs for cell in experiment.cells}
        anew: set[str] = set()
        for name in TopologicalSorter(needs).static_order():
            if anew.intersection(needs[name]) or (name in by_name and not self._is_done(by_name[name])):
                anew.add(name)
                if self.state[name].status == DONE:
                    self.state[name].status = PENDING
        found = anew & by_name.keys()
        for name in found:
            for other in needs[name]:
                if other not in by_name and self.state[other].status != DONE:
                    raise InputError(f"{name} uses the run of {other}, which is not done: name it in --only, too")
        return found

    def _is_done(self, cell: Cell) -> bool:
        known = self.state[cell.name]
        return known.status == DONE and known.command == cell.command(self.out) and self._record(cell).is_file()

    def _record(self, cell: Cell) -> Path:
        return self.out / "runs" / cell.name / "record.json"

    def run(self) -> bool:
        """Run what is not done yet; True where every cell succeeded.

        A cell that fails takes no other with it. Ctrl-C, SIGTERM and a closed terminal stop the cells that are running,
        and the next run goes on with them.
        """
        with ended_by_signals():
            return self._run()

    def _run(self) -> bool:
        for cell in self.cells:
            known = self.state[cell.name]
            known.status, known.error, known.command = PENDING, None, cell.command(self.out)
        self.state.save()
        self.display.begin(len(self.cells), self.skipped)
        try:
            waiting = self._prepare()
            while waiting or any(self.state[cell.name].status in (PENDING, RUNNING) for cell in self.cells):
                self._step(waiting)
                time.sleep(POLL_SECONDS)
        except BaseException:
            try:
                self._collect()  # what has ended since the last look is no victim of the interruption
            finally:
                self.launcher.stop()
                for cell in self.cells:
                    if self.state[cell.name].status == RUNNING:
                        self.state[cell.name].status = PENDING
                self.state.save()
            raise
        finally:
            self.display.end()
        return all(self.state[cell.name].status == DONE for cell in self.cells)

    def _prepare(self) -> dict[str, tuple[Job, Path, list[Cell]]]:
        """Hand over each preparation, with the cells that wait for it."""
        waiting = {}
        for number, chosen in enumerate(_preparing(self.cells), start=1):
            name = f"prepare-{number}"
            task = self._task(name, chosen.preparing_command(self.out))
            same = [
                cell
                for cell in self.cells
                if not cell.needs and (cell.recipe, cell.preparation()) == (chosen.recipe, chosen.preparation())
            ]
            waiting[name] = (self.launcher.submit(task), task.log, same)
        return waiting

    def _submit(self, cell: Cell) -> None:
        self.jobs[cell.name] = self.launcher.submit(self._task(cell.name, cell.command(self.out)))

    def _submit_ready(self) -> None:
        """The cells whose needed runs have ended: where one has failed, so has the cell."""
        for cell in self.cells:
            if not cell.needs or cell.name in self.jobs or self.state[cell.name].status != PENDING:
                continue
            statuses = {name: self.state[name].status for name in cell.needs}
            failed = [name for name, status in statuses.items() if status == FAILED]
            if failed:
                log = self.out / "logs" / f"{failed[0]}.log"
                self._failed(cell, f"it uses the run of {failed[0]}, which failed", log)
            elif all(status == DONE for status in statuses.values()):
                self._submit(cell)

    def _task(self, name: str, command: list[str]) -> Task:
        return Task(name, command, self.out / "logs" / f"{name}.log", lock_of(self.out, name))

    def _step(self, waiting: dict[str, tuple[Job, Path, list[Cell]]]) -> None:
        """Look at every job once."""
        for name, (job, log, cells) in list(waiting.items()):
            if not job.done():
                continue
            del waiting[name]
            outcome = job.outcome()
            for cell in cells:
                if outcome.status == 0:
                    self._submit(cell)
                else:
                    reason = outcome.reason or last_line(log)
                    self._failed(cell, f"its data could not be prepared: {reason}", log)
        self._collect()
        self._submit_ready()
        running = [cell for cell in self.cells if self.state[cell.name].status == RUNNING]
        self.display.show([self.out / "runs" / cell.name for cell in running])

    def _collect(self) -> None:
        """Take note of the cells that have started or ended."""
        for cell in self.cells:
            known, job = self.state[cell.name], self.jobs.get(cell.name)
            if job is None or known.status not in (PENDING, RUNNING):
                continue
            if known.status == PENDING and job.started():
                known.status = RUNNING
                known.attempts += 1
                self.state.save()
                self.display.started(cell)
            if job.done():
                self._ended(cell, job.outcome())

    def _ended(self, cell: Cell, outcome: Outcome) -> None:
        known = self.state[cell.name]
        known.seconds = round(known.seconds + outcome.seconds, 3)
        training = self.out / "runs" / cell.name / "train.log"
        if training.is_file() and training.stat().st_mtime > outcome.began - CLOCK_SLACK:
            # An attempt that found training done before says nothing of its memory.
            known.peak_MiB = round(max(known.peak_MiB or 0, outcome.peak_MiB), 1)
        log = self.out / "logs" / f"{cell.name}.log"
        if outcome.status:
            self._failed(cell, outcome.reason or last_line(log), log)
        elif not self._record(cell).is_file():
            self._failed(cell, "its recipe ended without a record.json", log)
        else:
            known.status = DONE
            self.state.save()
            self.display.finished(cell, known)

    def _failed(self, cell: Cell, error: str, log: Path) -> None:
        known = self.state[cell.name]
        known.status, known.error = FAILED, error
        self.state.save()
        self.display.failed(cell, known, log)


def last_line(log: Path) -> str:
    """The last line of a log that says something."""
    lines = last_lines(log) if log.is_file() else []
    return next((line.strip() for line in lines if line.strip()), "it left no output")
