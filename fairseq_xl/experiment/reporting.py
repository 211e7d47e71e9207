"""A paper's tables and figures from what an experiment's runs left, whatever they are of, and one page of it all."""

from __future__ import annotations

import dataclasses
import sys
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from fairseq_xl.experiment.progress import status_of
from fairseq_xl.experiment.settings import ReportSettings
from fairseq_xl.experiment.state import DONE, State
from fairseq_xl.io.atomic import atomic_text, real_path
from fairseq_xl.io.errors import InputError
from fairseq_xl.io.folders import own_files
from fairseq_xl.io.settings import refuse_given
from fairseq_xl.report.page import Section, page
from fairseq_xl.report.record import versions
from fairseq_xl.report.runs import Finished, load_runs
from fairseq_xl.report.tables import write_table


@dataclass(frozen=True)
class Material:
    """What a report is made of.

    Attributes:
        title: of the experiment.
        labels: what tables call each system.
        baselines: systems that the others are compared with; those that have a run or not.
        runs: finished ones with their records, all of one kind.
        settings: what to show.
        folder: where figures and other files go.
        kept: a file beside the report for what takes long to compute; it stays from one report to the next.
    """

    title: str
    labels: Mapping[str, str]
    baselines: Sequence[str]
    runs: Sequence[Finished]
    settings: ReportSettings
    folder: Path
    kept: Path

    @property
    def baseline(self) -> str | None:
        """The label of the first baseline that has a run; None where none has."""
        systems = {run.system for run in self.runs}
        return next((self.labels[name] for name in self.baselines if name in systems), None)


@dataclass(frozen=True)
class Report:
    """What is to be told of an experiment.

    Attributes:
        sections: of the page.
        shown: the runs that these are made from.
        lacking: what is so of finished runs that are not among them: "not scored on val".
        notes: sentences for the end of the page.
    """

    sections: list[Section]
    shown: Sequence[Finished]
    lacking: str = "without a record"
    notes: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class Kind:
    """A kind of runs, known by their records.

    Attributes:
        name: what they are: "translations".
        keys: what a record of this kind has, with its type.
        options: fields of :class:`ReportSettings` that mean something for it.
        report: makes the report.
    """

    name: str
    keys: Mapping[str, type]
    options: Collection[str]
    report: Callable[[Material], Report]

    def has(self, run: Finished) -> bool:
        """Whether a run is of this kind."""
        return all(isinstance(run.record.get(key), kind) for key, kind in self.keys.items())


def write_report(output: Path, settings: ReportSettings, kinds: Sequence[Kind]) -> Path:
    """Write ``OUTPUT/report`` and return its page. Its omissions are printed to stderr. Files of others stay.

    Raises:
        InputError: there is no experiment or nothing finished, or runs are of several kinds or of none of these. An
            option belongs to another kind, or a file of others is in the way. A kind's report may refuse more.
    """
    state = State.of(output)
    peaks = {name: cell.peak_MiB for name, cell in state.cells.items()}
    # A run whose cell is not done may have been left by other settings than those its label speaks of now.
    done = {name: system for name, system in state.systems.items() if state[name].status == DONE}
    runs = load_runs(real_path(output), done, peaks)
    kind = _kind(runs, kinds)
    _check_options(settings, kind)
    labels = {**{run.system: run.system for run in runs}, **state.labels}
    index = output / "report" / "index.html"
    with own_files(index.parent, "a report") as folder:
        kept = index.with_name("tests.json")
        report = kind.report(Material(state.title, labels, state.baselines, runs, settings, folder, kept))
        left_out = _left_out(output, state, {run.folder.name for run in report.shown}, report.lacking)
        for line in left_out:
            print(line, file=sys.stderr)
        tables = [table for section in report.sections for table in section.tables]
        for number, table in enumerate(tables, 1):
            words = "".join(letter if letter.isalnum() else " " for letter in table.title.lower()).split()
            write_table(table, folder / "tables", f"{number:02}-{'-'.join(words)[:60]}")
        signature = "; ".join(f"{name} {version}" for name, version in versions().items())
        notes = [*left_out, *report.notes, f"Reported with {signature}."]
        with atomic_text(folder / index.name) as stream:
            stream.write(page(state.title, report.sections, notes))
    return index


def _kind(runs: Sequence[Finished], kinds: Sequence[Kind]) -> Kind:
    found: dict[str, tuple[Kind, Finished]] = {}
    for run in runs:
        kind = next((kind for kind in kinds if kind.has(run)), None)
        if kind is None:
            names = ", ".join(kind.name for kind in kinds)
            raise InputError(f"{run.folder}/record.json is of none of the kinds that are reported, which are {names}")
        found.setdefault(kind.name, (kind, run))
    if len(found) > 1:
        shown = " and ".join(f"{name} ({run.folder.name})" for name, (_, run) in found.items())
        raise InputError(f"the runs are of several kinds, {shown}: report on experiments of one recipe each")
    return next(iter(found.values()))[0]


def _check_options(settings: ReportSettings, kind: Kind) -> None:
    others = [each.name for each in dataclasses.fields(ReportSettings) if each.name not in kind.options]
    refuse_given(settings, others, f"means nothing for {kind.name}, which these runs are")


def _left_out(output: Path, state: State, reported: set[str], lacking: str) -> list[str]:
    """A sentence for each status that runs which the report lacks have."""
    names_of: dict[str, list[str]] = {}
    for name in state.systems:
        if name not in reported:
            status = status_of(output, state, name)
            names_of.setdefault(lacking if status == DONE else status, []).append(name)
    return [
        f"Left out: {len(names)} of {len(state.systems)} runs are {status}: {', '.join(names)}."
        for status, names in names_of.items()
    ]
