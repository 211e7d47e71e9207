"""Figure 2: how fast each system trains, how good it is after how long, what it costs in memory."""

from __future__ import annotations

import itertools
import math
import statistics
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from fairseq_xl.report.runs import Run, by_system, colours
from fairseq_xl.report.scores import epochs, spread
from fairseq_xl.report.tables import Table

# what validation may have measured for every kind of output, best first
QUALITY = {"bleu": "validation BLEU", "accuracy": "validation accuracy@1 (%)"}


def sentences_per_second(run: Run) -> float | None:
    """Training instances a second: the median over the stretches between two lines of the log. Where a training is too
    short for such lines, it is the median over epochs. None where fairseq could not tell.

    fairseq logs updates a second of wall-clock time (``ups``) and sentences an update (``bsz``).
    """
    for kind in ("train_inner", "train"):
        rates = [r.values["ups"] * r.values["bsz"] for r in run.log.of(kind) if r.values.get("ups")]
        rates = [rate for rate in rates if math.isfinite(rate)]
        if rates:
            return statistics.median(rates)
    return None


def _rates(runs: Sequence[Run]) -> list[float]:
    return [rate for run in runs if (rate := sentences_per_second(run)) is not None]


def gpu_memory(run: Run) -> float | None:
    """The most that one GPU held of a training's tensors, in GiB; None where there was none.

    fairseq logs what is left (``gb_free``) of the whole, of one update in each ``--log-interval``.
    """
    free = [r.values["gb_free"] for r in run.log.of("train_inner") if "gb_free" in r.values]
    whole = run.gpu_GiB
    return whole - min(free) if free and whole else None


def target_minutes(run: Run) -> float | None:
    """What the softmax took whose output vectors are the run's targets, in minutes; None where there was none."""
    seconds = run.record.get("targets_run", {}).get("training_seconds")
    return None if seconds is None else seconds / 60


def quality_over_time(run: Run, measure: str) -> list[tuple[float, float, float]]:
    """(epochs, minutes of training, value) at each validation that measured it.

    Minutes are the time spent in updates (fairseq's ``train_wall``), without validation and saving. They begin with
    those of the softmax that the run's targets come from, where its record has them. A validation within an epoch
    stands where its updates are between those of the epochs' ends.
    """
    before = target_minutes(run) or 0.0
    minutes = {r.epoch: r.values.get("train_wall", 0.0) / 60 for r in run.log.of("train")}
    updates = [0, *({r.epoch: r.updates for r in run.log.of("train")}.values())]
    epochs = [min(minutes, default=1) - 1, *minutes]
    total = list(itertools.accumulate(minutes.values(), initial=before))
    return [
        (float(np.interp(r.updates, updates, epochs)), float(np.interp(r.updates, updates, total)), r.values[measure])
        for r in run.log.of("valid")
        if measure in r.values and r.epoch in minutes
    ]


def measured(runs: Sequence[Run]) -> str | None:
    """The measure of quality that the most runs were validated with; None where none was with any."""
    counts = {name: sum(bool(quality_over_time(run, name)) for run in runs) for name in QUALITY}
    best = max(counts, key=lambda name: counts[name])
    return best if counts[best] else None


def speed_table(runs: Sequence[Run], labels: Mapping[str, str]) -> Table:
    """Throughput, time, memory and size of each system."""
    headings = ["system", "sentences/s", "min/epoch", "epochs", "trained parameters", "peak memory, MiB"]
    on_gpu = any(gpu_memory(run) is not None for run in runs)
    of_softmax = any(target_minutes(run) is not None for run in runs)
    table = Table("Speed of training", [*headings, *["targets, min"] * of_softmax, *["GPU, GiB"] * on_gpu])
    for system, group in by_system(runs).items():
        counted = next((run.parameters for run in group if run.parameters), None)
        peaks = [run.peak_MiB for run in group if run.peak_MiB]
        rates = _rates(group)
        held = [memory for run in group if (memory := gpu_memory(run)) is not None]
        before = [minutes for run in group if (minutes := target_minutes(run)) is not None]
        gpu = [f"{max(held):.1f}" if held else ""] if on_gpu else []
        targets = [spread(before) if before else ""] if of_softmax else []
        table.add(
            labels.get(system, system),
            spread(rates, 0) if rates else "",
            spread([run.record["seconds_per_epoch"] / 60 for run in group]),
            epochs(group),
            f"{counted[1]:,}" if counted else "",
            f"{max(peaks):,.0f}" if peaks else "",
            *targets,
            *gpu,
        )
    devices = "; ".join(sorted({run.record["device"] for run in runs}))
    table.notes.append("Minutes an epoch: of updates alone, without validating and saving.")
    table.notes.append(
        "Sentences a second: median over the run's log, so of the machine as busy as it was. Memory: resident, of "
        f"the largest process of a run. On {devices}."
    )
    if of_softmax:
        table.notes.append("Targets: of the softmax whose output vectors they are, before the epochs of the system.")
    if on_gpu:
        table.notes.append("GPU: the most that one held of tensors, of the updates that were logged.")
    return table


def draw_speed(figure: Any, runs: Sequence[Run], labels: Mapping[str, str]) -> None:
    """Throughput as bars; quality against minutes and against epochs, one line a system (mean over seeds).

    Throughput and convergence are different claims, so both are shown.
    """
    groups = by_system(runs)
    measure = measured(runs)
    panels = figure.subplots(1, 3 if measure else 1, squeeze=False)[0]
    rates = [statistics.mean(_rates(group) or [0.0]) for group in groups.values()]
    names = [labels.get(system, system) for system in groups]
    colour_of = colours(runs, labels)
    bars = panels[0].barh(names, rates, color=[colour_of[name] for name in names])
    panels[0].bar_label(bars, [f"{rate:.0f}" if rate else "not logged" for rate in rates], padding=3)
    panels[0].margins(x=0.2)
    panels[0].invert_yaxis()
    panels[0].set_xlabel("training sentences a second")
    if measure is None:
        return
    axes_of: list[tuple[Any, str, Callable[[tuple[float, float, float]], float]]] = [
        (panels[1], "minutes of training", lambda point: point[1]),
        (panels[2], "epochs", lambda point: point[0]),
    ]
    for axes, label, position in axes_of:
        for name, group in zip(names, groups.values(), strict=True):
            curves = [quality_over_time(run, measure) for run in group]
            curves = [curve for curve in curves if curve]
            if not curves:
                continue
            steps = list(zip(*curves, strict=False))  # epochs that every seed has
            x = [statistics.mean(position(point) for point in step) for step in steps]
            y = [[point[2] for point in step] for step in steps]
            axes.plot(x, [statistics.mean(v) for v in y], color=colour_of[name], label=name)
            if len(curves) > 1:
                low, high = [min(v) for v in y], [max(v) for v in y]
                axes.fill_between(x, low, high, color=colour_of[name], alpha=0.2, linewidth=0)
        axes.set_xlabel(label)
        axes.grid(alpha=0.3)
    panels[1].set_ylabel(QUALITY[measure])
    panels[2].legend(fontsize="small")
