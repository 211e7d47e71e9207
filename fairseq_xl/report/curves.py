"""Training curves: losses and measures of several trainings, from their logs."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from fairseq_xl.io.atomic import atomic_binary
from fairseq_xl.report.figures import rendered
from fairseq_xl.report.training_log import Record, TrainingLog

MEASURES = {"accuracy": "validation accuracy@1 (%)", "cosine": "validation mean cosine", "bleu": "validation BLEU"}
"""What a validation may have measured: name in the log -> what to write beside the axis."""
POSITIONS: dict[str, Callable[[Record], float]] = {
    "epochs": lambda record: record.progress,
    "updates": lambda record: record.updates,
}
"""Where a record stands on the horizontal axis."""
Logs = Sequence[tuple[str, TrainingLog]]
"""Labels and logs."""


def write_curves(logs: Logs, output: Path, x: str = "epochs", title: str = "") -> None:
    """Draw training curves into ``output``, whose suffix says how.

    Losses of different criteria have different scales, so each criterion has a panel of its own. A measure has a panel
    when any of the logs has it.

    Args:
        x: the horizontal axis, one of :data:`POSITIONS`.

    Raises:
        InputError: matplotlib is missing.
    """
    criteria = list(dict.fromkeys(log.criterion for _, log in logs))
    measures = [name for name in MEASURES if any(_points(log, "valid", name, x) for _, log in logs)]
    panels = len(criteria) + len(measures)
    columns = min(panels, 3 if panels != 4 else 2)
    rows = math.ceil(panels / columns)

    def draw(figure: Any) -> None:
        panel = iter(figure.subplots(rows, columns, squeeze=False).flat)
        for criterion in criteria:
            _draw_losses(next(panel), logs, criterion, x)
        for name in measures:
            _draw_measure(next(panel), logs, name, x)
        for unused in panel:
            unused.set_visible(False)
        if title:
            figure.suptitle(title)

    picture = rendered(draw, (4.8 * columns, 3.6 * rows), output.suffix.removeprefix("."))
    with atomic_binary(output) as stream:
        stream.write(picture)


def _draw_losses(axes: Any, logs: Logs, criterion: str | None, x: str) -> None:
    for colour, (label, log) in enumerate(logs):
        if log.criterion != criterion:
            continue
        # an epoch's mean, or, in a training that is one or two epochs long, the means in between
        kind = "train" if len(log.of("train")) > 2 else "train_inner"
        training = _points(log, kind, "loss", x) or _points(log, "train", "loss", x)
        _line(axes, training, f"{label}, training", f"C{colour}", "--", len(training) == 1)
        _line(axes, _points(log, "valid", "loss", x), f"{label}, validation", f"C{colour}")
    _finish(axes, f"loss ({criterion})" if criterion else "loss", x)


def _draw_measure(axes: Any, logs: Logs, name: str, x: str) -> None:
    for colour, (label, log) in enumerate(logs):
        _line(axes, _points(log, "valid", name, x), label, f"C{colour}")
    _finish(axes, MEASURES[name], x)


def _line(
    axes: Any, points: list[tuple[float, float]], label: str, colour: str, style: str = "-", marked: bool = True
) -> None:
    if points:
        marker = "o" if marked else ""
        axes.plot(*zip(*points, strict=True), style, marker=marker, markersize=3.5, color=colour, label=label)


def _finish(axes: Any, what: str, x: str) -> None:
    from matplotlib.ticker import MaxNLocator

    axes.set_xlabel(x)
    axes.set_ylabel(what)
    axes.xaxis.set_major_locator(MaxNLocator(nbins=8, integer=True))
    axes.grid(alpha=0.3)
    axes.legend(fontsize="small")


def _points(log: TrainingLog, kind: str, name: str, x: str) -> list[tuple[float, float]]:
    """Where the log has a finite value of ``name``."""
    found = ((POSITIONS[x](record), record.values.get(name, math.nan)) for record in log.of(kind))
    return [(at, value) for at, value in found if math.isfinite(value)]
