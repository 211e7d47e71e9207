"""What finished runs left in their folders, as plain data for tables and figures."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any, TypeVar

from fairseq_xl.io.errors import InputError
from fairseq_xl.io.json_files import opened_json
from fairseq_xl.io.lines import read_lines
from fairseq_xl.report.training_log import GPU, TrainingLog, read_training_log

TRANSLATION = {"scores": dict, "source": str, "target": str}
"""What the record of a translation has, by kind."""
OWN_TEST = "test"
"""The name of the scores of a recipe's own test set."""
PARAMETERS = re.compile(r"num\. shared model params: ([\d,]+) \(num\. trained: ([\d,]+)\)")


@dataclass(frozen=True)
class Finished:
    """A finished run of any recipe.

    Attributes:
        folder: ``OUT/runs/NAME``.
        system: the row of a table.
        seed: of the run.
        record: its ``record.json``.
        peak_MiB: resident memory of its largest process, where the runner measured it.
    """

    folder: Path
    system: str
    seed: int
    record: dict[str, Any]
    peak_MiB: float | None = None


@dataclass(frozen=True)
class Run(Finished):
    """A finished run of a translation's recipe, whose record ``fairseq-xl experiment record`` wrote.

    Attributes:
        scored: the set of scores that is looked at: ``test``, or the name that a recipe gave another one (``val``,
            ``test.unknown_by_lexicon``).
    """

    scored: str = OWN_TEST

    def score(self, beam: int, metric: str = "BLEU") -> float:
        return self._metric(beam, metric)["score"]

    def signature(self, beam: int, metric: str = "BLEU") -> str:
        return self._metric(beam, metric)["signature"]

    def tokenize(self, beam: int) -> str:
        """The tokeniser of its BLEU, by sacreBLEU's signature."""
        return dict(part.split(":", 1) for part in self.signature(beam).split("|"))["tok"]

    def length_ratio(self, beam: int) -> float | None:
        """How long its translations are beside the reference, in words; None in records that do not say it."""
        return self._metric(beam, "BLEU").get("length_ratio")

    def _metric(self, beam: int, metric: str) -> dict[str, Any]:
        try:
            return self.record["scores"][self.scored][f"beam{beam}"][metric]
        except KeyError:
            raise InputError(
                f"{self.folder}/record.json has no {metric} of beam {beam} on {self.scored}: run the recipe again"
            ) from None

    @property
    def beams(self) -> list[int]:
        """Widths that it was translated with."""
        return sorted(int(name.removeprefix("beam")) for name in self.record["scores"].get(self.scored, {}))

    def hypotheses(self, beam: int) -> list[str]:
        """Its translations of the test set, plain text. Raises: InputError: another number than the references."""
        return self._beside_references(f"hyp.beam{beam}.txt")

    def references(self) -> list[str]:
        return list(read_lines(self._text("ref.txt")))

    def sources(self) -> list[str]:
        """What was translated, plain text. Raises: InputError: another number of lines than the references."""
        return self._beside_references("src.txt")

    def _beside_references(self, name: str) -> list[str]:
        path = self._text(name)
        lines, expected = list(read_lines(path)), len(self.references())
        if len(lines) != expected:
            raise InputError(
                f"{path} has {len(lines)} lines and {self._text('ref.txt').name} {expected}: run the recipe again, "
                "which translates a test set that has changed"
            )
        return lines

    def _text(self, name: str) -> Path:
        return self.folder / (name if self.scored == OWN_TEST else f"{self.scored}.{name}")

    @cached_property
    def log(self) -> TrainingLog:
        return read_training_log(self.folder / "train.log")

    @cached_property
    def diagnostics(self) -> dict[str, Any] | None:
        """What ``fairseq-xl translate diagnose`` measured; None for a softmax."""
        path = self.folder / "diagnostics.json"
        if not path.is_file():
            return None
        found: dict[str, Any]
        with opened_json(path, "output of `fairseq-xl translate diagnose`", "diagnose again") as found:
            if not found["checkpoints"]:
                raise ValueError("it has no checkpoints")
        return found

    @cached_property
    def parameters(self) -> tuple[int, int] | None:
        """All and trained parameters, as fairseq counts them when it starts."""
        found = self._said(PARAMETERS)
        return (int(found[1].replace(",", "")), int(found[2].replace(",", ""))) if found else None

    @cached_property
    def gpu_GiB(self) -> float | None:
        """The memory of the GPU that it was trained on, of the first where there were several; None without one."""
        found = self._said(GPU)
        return float(found["GB"]) if found else None

    def _said(self, pattern: re.Pattern[str]) -> re.Match[str] | None:
        lines = read_lines(self.folder / "train.log")
        return next((found for line in lines if (found := pattern.search(line))), None)


def load_runs(out: Path, systems: Mapping[str, tuple[str, int]], peaks: Mapping[str, float | None]) -> list[Finished]:
    """The runs under ``OUT/runs`` that have a record, in the order of ``systems`` (name → system and seed).

    Raises:
        InputError: none has a record, or a record is damaged.
    """
    runs = []
    for name, (system, seed) in systems.items():
        path = out / "runs" / name / "record.json"
        if not path.is_file():
            continue
        with opened_json(path, "record of a run", "remove it and run the experiment again") as record:
            if not isinstance(record, dict):
                raise TypeError("it has no entries with names")
        runs.append(Finished(path.parent, system, seed, record, peaks.get(name)))
    if not runs:
        raise InputError(f"no run in {out / 'runs'} has finished yet: fairseq-xl experiment run goes on with them")
    return runs


def translations(finished: Sequence[Finished], scored: str | None = None) -> list[Run]:
    """The runs that were scored on a set, as runs of translations.

    Args:
        finished: runs whose records have :data:`TRANSLATION`.
        scored: the set of scores to look at; by default the recipe's own test set where a run has it, else the only
            one there is. Runs that were not scored on it are left out.

    Raises:
        InputError: none was scored on that set, or there are several to choose from.
    """
    runs = [Run(run.folder, run.system, run.seed, run.record, run.peak_MiB) for run in finished]
    chosen = _scored(runs, scored)
    return [replace(run, scored=chosen) for run in runs if chosen in run.record["scores"]]


def _scored(runs: Sequence[Run], wanted: str | None) -> str:
    found = list(dict.fromkeys(name for run in runs for name in run.record["scores"]))
    if not found:
        raise InputError(f"{runs[0].folder}/record.json has no scores: run the recipe again")
    if wanted is None:
        if OWN_TEST in found or len(found) == 1:
            return OWN_TEST if OWN_TEST in found else found[0]
        raise InputError(f"the runs were scored on {', '.join(found)}: choose one with --scores")
    if wanted not in found:
        raise InputError(f"--scores {wanted}: no run was scored on that; there are {', '.join(found)}")
    return wanted


AnyRun = TypeVar("AnyRun", bound=Finished)


def by_system(runs: Sequence[AnyRun]) -> dict[str, list[AnyRun]]:
    """Runs of each system, by seed; systems in the order of their first run."""
    groups: dict[str, list[AnyRun]] = {}
    for run in runs:
        groups.setdefault(run.system, []).append(run)
    return {system: sorted(group, key=lambda run: run.seed) for system, group in groups.items()}


def colours(runs: Sequence[Finished], labels: Mapping[str, str]) -> dict[str, str]:
    """Matplotlib's colour for each system's label, so that a system has one in all figures of a report."""
    return {labels.get(system, system): f"C{i % 10}" for i, system in enumerate(by_system(runs))}
