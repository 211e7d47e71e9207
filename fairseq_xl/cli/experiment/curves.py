"""``fairseq-xl experiment curves LOG…``: training curves of one or several runs, as one figure."""

from __future__ import annotations

import argparse
import math
import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from fairseq_xl.io.errors import InputError
from fairseq_xl.io.packages import require
from fairseq_xl.report.training_log import Record, TrainingLog, read_training_log

# what a validation may have measured: name in the log -> what to write beside the axis
MEASURES = {"accuracy": "validation accuracy@1 (%)", "cosine": "validation mean cosine", "bleu": "validation BLEU"}
AXES: dict[str, tuple[str, Callable[[Record], float]]] = {
    "epochs": ("epochs", lambda record: record.progress),
    "updates": ("updates", lambda record: record.updates),
}
SUFFIXES = (".png", ".pdf", ".svg")


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the arguments."""
    parser.description = (
        "Plot training and validation loss, and the validation accuracy, mean cosine and BLEU that the "
        "logs have, of one or several runs of fairseq-train."
    )
    parser.add_argument(
        "logs", nargs="+", type=Path, metavar="LOG", help="written by fairseq-train --log-format json --log-file LOG"
    )
    parser.add_argument("--labels", nargs="+", metavar="LABEL", help="one for each log (default: from its path)")
    parser.add_argument(
        "--output",
        type=Path,
        default=Path("curves.png"),
        help="picture to write: .png, .pdf or .svg (default: curves.png)",
    )
    parser.add_argument("--title", default="", help="title of the figure")
    parser.add_argument("--x", choices=sorted(AXES), default="epochs", help="horizontal axis (default: epochs)")


def run(args: argparse.Namespace) -> None:
    """Draw and say where the picture is."""
    labels = args.labels or [_label(path) for path in args.logs]
    if len(labels) != len(args.logs):
        raise InputError(f"--labels has {len(labels)} entries for {len(args.logs)} logs; give one for each, in order")
    if args.output.suffix not in SUFFIXES:
        raise InputError(f"--output {args.output}: its name must end in {', '.join(SUFFIXES)}")
    runs = [(label, read_training_log(path)) for label, path in zip(labels, args.logs, strict=True)]
    write_curves(runs, args.output, x=args.x, title=args.title)
    print(args.output)


def write_curves(runs: Sequence[tuple[str, TrainingLog]], output: Path, x: str = "epochs", title: str = "") -> None:
    """Draw ``runs`` (label, log) into ``output``.

    Losses of different criteria have different scales, so each criterion has a panel of its own;
    a measure has a panel when any of the logs has it.

    Raises:
        InputError: matplotlib is missing.
    """
    require("matplotlib", "report", "a figure").use("Agg")
    from matplotlib import pyplot

    criteria = list(dict.fromkeys(log.criterion for _, log in runs))
    measures = [name for name in MEASURES if any(_points(log, "valid", name, x) for _, log in runs)]
    panels = len(criteria) + len(measures)
    columns = min(panels, 3 if panels != 4 else 2)
    rows = math.ceil(panels / columns)
    figure, axes = pyplot.subplots(
        rows, columns, figsize=(4.8 * columns, 3.6 * rows), layout="constrained", squeeze=False
    )
    try:
        panel = iter(axes.flat)
        for criterion in criteria:
            _draw_losses(next(panel), runs, criterion, x)
        for name in measures:
            _draw_measure(next(panel), runs, name, x)
        for unused in panel:
            unused.set_visible(False)
        if title:
            figure.suptitle(title)
        output.parent.mkdir(parents=True, exist_ok=True)
        partial = output.with_name(f".{output.stem}.{os.getpid()}.partial{output.suffix}")
        try:
            figure.savefig(partial, dpi=130)
            os.replace(partial, output)
        finally:
            partial.unlink(missing_ok=True)
    finally:
        pyplot.close(figure)


def _draw_losses(axes: Any, runs: Sequence[tuple[str, TrainingLog]], criterion: str | None, x: str) -> None:
    for colour, (label, log) in enumerate(runs):
        if log.criterion != criterion:
            continue
        # an epoch's mean, or, in a training that is one or two epochs long, the means in between
        kind = "train" if len(log.of("train")) > 2 else "train_inner"
        training = _points(log, kind, "loss", x) or _points(log, "train", "loss", x)
        _line(axes, training, f"{label}, training", f"C{colour}", "--", len(training) == 1)
        _line(axes, _points(log, "valid", "loss", x), f"{label}, validation", f"C{colour}")
    _finish(axes, f"loss ({criterion})" if criterion else "loss", x)


def _draw_measure(axes: Any, runs: Sequence[tuple[str, TrainingLog]], name: str, x: str) -> None:
    for colour, (label, log) in enumerate(runs):
        _line(axes, _points(log, "valid", name, x), label, f"C{colour}")
    _finish(axes, MEASURES[name], x)


def _line(
    axes: Any, points: list[tuple[float, float]], label: str, colour: str, style: str = "-", marked: bool = True
) -> None:
    if points:
        horizontal, vertical = zip(*points, strict=True)
        marker = "o" if marked else ""
        axes.plot(horizontal, vertical, style, marker=marker, markersize=3.5, color=colour, label=label)


def _finish(axes: Any, what: str, x: str) -> None:
    from matplotlib.ticker import MaxNLocator

    axes.set_xlabel(AXES[x][0])
    axes.set_ylabel(what)
    axes.xaxis.set_major_locator(MaxNLocator(nbins=8, integer=True))
    axes.grid(alpha=0.3)
    axes.legend(fontsize="small")


def _points(log: TrainingLog, kind: str, name: str, x: str) -> list[tuple[float, float]]:
    """Where the log has a finite value of ``name``."""
    position = AXES[x][1]
    found = ((position(r), r.values.get(name, math.nan)) for r in log.of(kind))
    return [(at, value) for at, value in found if math.isfinite(value)]


def _label(path: Path) -> str:
    """The file's name, or its folder's where the file's says nothing: runs/vmf/train.log -> vmf."""
    return path.resolve().parent.name if path.stem in ("train", "log") else path.stem
