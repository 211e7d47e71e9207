"""What finished runs left in their folders, as plain data for tables and figures."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from fairseq_xl.errors import InputError
from fairseq_xl.report.training_log import TrainingLog, read_training_log
from fairseq_xl.text.json_text import loads
from fairseq_xl.text.lines import read_lines

HYPOTHESES = re.compile(r"hyp\.beam(\d+)\.txt")
PARAMETERS = re.compile(r"num\. shared model params: ([\d,]+) \(num\. trained: ([\d,]+)\)")


@dataclass(frozen=True)
class Run:
    """A finished run of a recipe.

    Attributes:
        folder: ``OUT/runs/NAME``.
        system: the row of a table.
        seed: of the run.
        record: what ``fairseq-xl record`` wrote.
        peak_MiB: resident memory of its largest process, where the runner measured it.
    """

    folder: Path
    system: str
    seed: int
    record: dict[str, Any]
    peak_MiB: float | None = None

    def score(self, beam: int, metric: str = "BLEU") -> float:
        return self._metric(beam, metric)["score"]

    def signature(self, beam: int, metric: str = "BLEU") -> str:
        return self._metric(beam, metric)["signature"]

    def _metric(self, beam: int, metric: str) -> dict[str, Any]:
        try:
            return self.record["scores"]["test"][f"beam{beam}"][metric]
        except KeyError:
            raise InputError(
                f"{self.folder}/record.json has no {metric} of beam {beam}: run the recipe again"
            ) from None

    @property
    def beams(self) -> list[int]:
        """Widths that it was translated with."""
        return sorted(int(name.removeprefix("beam")) for name in self.record["scores"].get("test", {}))

    def hypotheses(self, beam: int) -> list[str]:
        """Its translations of the test set, plain text."""
        return list(read_lines(self.folder / f"hyp.beam{beam}.txt"))

    @property
    def _plain(self) -> Path:
        pair = f"{self.record['source']}-{self.record['target']}"
        return self.folder.parent.parent / "prepared" / pair / "plain"

    def references(self) -> list[str]:
        return list(read_lines(self._plain / f"test.{self.record['target']}"))

    def sources(self) -> list[str]:
        return list(read_lines(self._plain / f"test.{self.record['source']}"))

    @cached_property
    def log(self) -> TrainingLog:
        return read_training_log(self.folder / "train.log")

    @cached_property
    def diagnostics(self) -> dict[str, Any] | None:
        """What ``fairseq-xl diagnose`` measured; None for a softmax."""
        path = self.folder / "diagnostics.json"
        return loads(path.read_text(encoding="utf-8")) if path.is_file() else None

    @cached_property
    def parameters(self) -> tuple[int, int] | None:
        """All and trained parameters, as fairseq counts them when it starts."""
        for line in read_lines(self.folder / "train.log"):
            found = PARAMETERS.search(line)
            if found:
                return int(found[1].replace(",", "")), int(found[2].replace(",", ""))
        return None


def load_runs(
    out: Path, systems: Mapping[str, tuple[str, int]], peaks: Mapping[str, float | None]
) -> list[Run]:
    """The runs under ``OUT/runs`` that have a record, in the order of ``systems`` (name → system and seed).

    Raises:
        InputError: none has, or a record is damaged.
    """
    runs = []
    for name, (system, seed) in systems.items():
        path = out / "runs" / name / "record.json"
        if not path.is_file():
            continue
        try:
            record = loads(path.read_text(encoding="utf-8"))
            record["scores"], record["source"], record["target"]
        except (ValueError, KeyError, TypeError):
            raise InputError(f"{path} is not a run's record: remove it and run the experiment again") from None
        runs.append(Run(path.parent, system, seed, record, peaks.get(name)))
    if not runs:
        raise InputError(f"no run in {out / 'runs'} has finished yet: fairseq-xl experiment run goes on with them")
    return runs


def by_system(runs: Sequence[Run]) -> dict[str, list[Run]]:
    """Runs of each system, by seed; systems in the order of their first run."""
    groups: dict[str, list[Run]] = {}
    for run in runs:
        groups.setdefault(run.system, []).append(run)
    return {system: sorted(group, key=lambda run: run.seed) for system, group in groups.items()}
