"""How losses see their training: what continuous criteria log, over the updates of several systems."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from fairseq_xl.report.runs import Run, by_system
from fairseq_xl.report.training_log import Record

LOGGED = {"cosine": "cosine to the target", "kappa": "κ", "hinge": "share of active hinges"}
"""What continuous criteria log, as means over the words since the line before."""
LOGGED_AS = {"hinge": ("hinge", "end_hinge", "start_hinge", "main_hinge", "auxiliary_hinge")}
"""The names that a value may have in a log, of which the first that is there counts. A mix of losses logs those of its
parts. The end loss counts before the start loss, and the main loss before the auxiliary one."""


def value_of(record: Record, name: str) -> float | None:
    """What a record says under one of the names in LOGGED."""
    return next((record.values[each] for each in LOGGED_AS.get(name, (name,)) if each in record.values), None)


def logged(runs: Sequence[Run]) -> list[str]:
    """The names in LOGGED that some run's log has."""
    return [
        name for name in LOGGED if any(value_of(r, name) is not None for run in runs for r in run.log.of("train_inner"))
    ]


def draw_course(figure: Any, runs: Sequence[Run], labels: Mapping[str, str], colours: Mapping[str, str]) -> None:
    """How losses see training: a panel for each logged name, a line for each system (its first seed), by update."""
    names = logged(runs)
    panels = figure.subplots(1, len(names), squeeze=False)[0]
    for system, group in by_system(runs).items():
        label = labels.get(system, system)
        records = group[0].log.of("train_inner")
        for axes, name in zip(panels, names, strict=True):
            points = [(r.updates, value) for r in records if (value := value_of(r, name)) is not None]
            if points:
                axes.plot(*zip(*points, strict=True), color=colours[label], label=label)
    for axes, name in zip(panels, names, strict=True):
        axes.set_xlabel("updates")
        axes.set_ylabel(LOGGED[name])
        axes.grid(alpha=0.3)
    panels[0].legend(fontsize="small")
