"""What a person sees of an experiment: a line for each event while it runs, and a line for each cell at any time."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterator
from pathlib import Path

from tqdm import tqdm

from fairseq_xl.experiment.config import Cell
from fairseq_xl.experiment.state import RUNNING, CellState, State, lock_of
from fairseq_xl.io.atomic import is_held

SHOWN = ("valid_accuracy", "valid_ppl", "valid_loss", "accuracy", "ppl", "loss")


class Display:
    """Events as lines on stderr; on a terminal a bar of cells as well, with the epoch that each is in."""

    def __init__(self, shown: bool | None = None):
        self.shown = sys.stderr.isatty() if shown is None else shown
        self.bar: tqdm | None = None

    def begin(self, cells: int, skipped: int) -> None:
        if skipped:
            print(f"{skipped} cells were done before", file=sys.stderr)
        self.bar = tqdm(total=cells, unit="cell", disable=not self.shown, leave=False)

    def started(self, cell: Cell) -> None:
        self._line(f"{cell.name}: started")

    def finished(self, cell: Cell, state: CellState) -> None:
        peak = "" if state.peak_MiB is None else f", {state.peak_MiB:,.0f} MiB at the peak"
        self._line(f"{cell.name}: done in {minutes(state.seconds)}{peak}")
        self._advance()

    def failed(self, cell: Cell, state: CellState, log: Path) -> None:
        self._line(f"{cell.name}: FAILED: {state.error} (its output is in {log})")
        self._advance()

    def show(self, runs: list[Path]) -> None:
        """How far the runs in these folders are."""
        if self.bar is not None and self.shown:
            self.bar.set_postfix_str(" · ".join(f"{run.name} {position(run)}" for run in runs))

    def end(self) -> None:
        if self.bar is not None:
            self.bar.close()

    def _line(self, text: str) -> None:
        tqdm.write(text, file=sys.stderr)

    def _advance(self) -> None:
        if self.bar is not None:
            self.bar.update()


def status_of(output: Path, state: State, name: str) -> str:
    """The status of a cell. It is ``killed`` where the state says running, and neither the cell nor a runner is there.

    The next run goes on with such a cell.
    """
    status = state[name].status
    gone = status == RUNNING and not is_held(lock_of(output)) and not is_held(lock_of(output, name))
    return "killed" if gone else status


def status_lines(output: Path) -> Iterator[str]:
    """A line for each cell of the experiment in a folder: status, time, memory, and why it failed.

    Raises:
        InputError: there is no experiment.
    """
    state = State.of(output)
    width = max(map(len, state.systems), default=0)
    for name in state.systems:
        cell = state[name]
        status = status_of(output, state, name)
        peak = "" if cell.peak_MiB is None else f"  {cell.peak_MiB:,.0f} MiB"
        spent = minutes(cell.seconds) if cell.seconds else ""
        yield f"{name:{width}}  {status:8} {spent:>10}{peak}{'  ' + cell.error if cell.error else ''}".rstrip()


def minutes(seconds: float) -> str:
    """A time as people say it."""
    if seconds < 90:
        return f"{seconds:.0f} s"
    whole = round(seconds / 60)
    return f"{whole} min" if whole < 90 else f"{whole // 60} h {whole % 60:02} min"


def last_lines(log: Path) -> list[str]:
    """The lines in the last 64 KiB of a log, the latest first."""
    with log.open("rb") as stream:
        stream.seek(max(0, log.stat().st_size - 65536))
        return stream.read().decode("utf-8", errors="replace").splitlines()[::-1]


def position(run: Path) -> str:
    """The epoch that a run is in, and the last value that tells how it goes."""
    log = run / "train.log"
    if not log.is_file():
        return "preparing"
    for line in last_lines(log):
        found = re.search(r'\{"epoch": .*\}', line)
        if found is None:
            continue
        try:
            values = json.loads(found.group())
        except json.JSONDecodeError:
            continue  # a line that is being written
        name = next((name for name in SHOWN if name in values), None)
        place = f"epoch {values.get('update', values['epoch']):.1f}"
        return f"{place}, {name.removeprefix('valid_')} {values[name]}" if name else place
    return "starting"
