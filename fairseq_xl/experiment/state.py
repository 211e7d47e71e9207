"""What has become of each cell, in one file that survives a kill."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from pathlib import Path

from fairseq_xl.experiment.config import Experiment
from fairseq_xl.io.atomic import write_json
from fairseq_xl.io.errors import InputError
from fairseq_xl.io.json_files import opened_json

PENDING, RUNNING, DONE, FAILED = "pending", "running", "done", "failed"


@dataclass
class CellState:
    """Of one cell.

    Attributes:
        status: one of PENDING, RUNNING, DONE, FAILED. RUNNING in a file that no process works on
            means that the runner was killed.
        command: what was run; a cell that is done is run again when its command changes.
        seconds: spent on it, over all attempts.
        peak_MiB: the largest process's resident memory, of attempts that trained; None before there is one.
        attempts: how often it was started.
        error: the last line of its output, when it failed.
    """

    status: str = PENDING
    command: list[str] = field(default_factory=list)
    seconds: float = 0.0
    peak_MiB: float | None = None
    attempts: int = 0
    error: str | None = None


class State:
    """The file ``OUT/experiment.json``, written whole after every change.

    Attributes:
        cells: by name.
        title, labels, baselines: of the experiment, for its report.
        systems: the system and seed of each cell.
    """

    def __init__(self, path: Path):
        self.path = path
        self.cells: dict[str, CellState] = {}
        self.title = ""
        self.labels: dict[str, str] = {}
        self.baselines: list[str] = []
        self.systems: dict[str, tuple[str, int]] = {}
        if not path.exists():
            return
        with opened_json(path, "state of an experiment", "remove it to begin anew (finished runs are kept)") as stored:
            self.cells = {name: CellState(**cell) for name, cell in stored["cells"].items()}
            self.title, self.labels = stored["title"], stored["labels"]
            self.baselines = stored["baselines"]
            self.systems = {name: (system, seed) for name, (system, seed) in stored["systems"].items()}
            self._check()

    def _check(self) -> None:
        """Raises: TypeError, AttributeError: values that no runner writes."""
        texts = [self.title, *self.labels.values(), *(system for system, _ in self.systems.values())]
        numbers: list[object] = [seed for _, seed in self.systems.values()]
        for cell in self.cells.values():
            texts += [cell.status, *([] if cell.error is None else [cell.error]), *cell.command]
            numbers += [cell.seconds, cell.attempts, *([] if cell.peak_MiB is None else [cell.peak_MiB])]
        lists = [self.baselines, *(cell.command for cell in self.cells.values())]
        if not all(isinstance(each, list) for each in lists):
            raise TypeError("no list")
        if not all(isinstance(text, str) for text in (*texts, *self.baselines)):
            raise TypeError("no text")
        if not all(type(number) in (int, float) for number in numbers):
            raise TypeError("no number")

    @classmethod
    def of(cls, output: Path) -> State:
        """Of the experiment that was run in a folder. Raises: InputError: none was."""
        path = output / "experiment.json"
        if not path.is_file():
            raise InputError(f"there is no {path}: give the --output of `fairseq-xl experiment run`")
        return cls(path)

    def __getitem__(self, name: str) -> CellState:
        return self.cells.setdefault(name, CellState())

    def describe(self, experiment: Experiment) -> None:
        """Take over what the experiment's file says now; cells that it no longer names leave the report."""
        self.title, self.labels, self.baselines = experiment.title, experiment.labels, experiment.baselines
        self.systems = {cell.name: (cell.system, cell.seed) for cell in experiment.cells}

    def save(self) -> None:
        """Write under a temporary name and rename."""
        stored = {
            "title": self.title,
            "labels": self.labels,
            "baselines": self.baselines,
            "systems": self.systems,
            "cells": {name: asdict(cell) for name, cell in self.cells.items()},
        }
        write_json(self.path, stored, indent=1)


def lock_of(output: Path, cell: str | None = None) -> Path:
    """What the runner in a folder, or one of its cells, holds while it is at work."""
    return output / "logs" / f"{cell}.lock" if cell else output / "experiment.lock"
