"""How a loss sees training: cosine to the target, length of the prediction, active hinges, update by update."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from fairseq_xl.report.runs import Run, by_system

LOGGED = {"cosine": "cosine to the target", "kappa": "κ", "hinge": "share of active hinges"}
"""What continuous criteria log, as means over the words since the line before."""


def logged(runs: Sequence[Run]) -> list[str]:
    """The names in LOGGED that some run's log has."""
    return [name for name in LOGGED if any(name in r.values for run in runs for r in run.log.of("train_inner"))]


def draw_course(figure: Any, runs: Sequence[Run], labels: Mapping[str, str]) -> None:
    """One panel for each logged name, one line for each system (its first seed), by update."""
    names = logged(runs)
    panels = figure.subplots(1, len(names), squeeze=False)[0]
    for colour, (system, group) in enumerate(by_system(runs).items()):
        records = group[0].log.of("train_inner")
        for axes, name in zip(panels, names, strict=True):
            points = [(r.updates, r.values[name]) for r in records if name in r.values]
            if points:
                axes.plot(*zip(*points, strict=True), color=f"C{colour % 10}", label=labels.get(system, system))
    for axes, name in zip(panels, names, strict=True):
        axes.set_xlabel("updates")
        axes.set_ylabel(LOGGED[name])
        axes.grid(alpha=0.3)
    panels[0].legend(fontsize="small")
