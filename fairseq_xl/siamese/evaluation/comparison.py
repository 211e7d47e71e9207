"""Systems side by side on one test set: scores with intervals, tests, confusion matrices, learning curves."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from fairseq_xl.io.errors import InputError
from fairseq_xl.report.classification import bootstrap_interval, class_scores, confusion, macro_f1, mcnemar
from fairseq_xl.report.figures import Picture, draw_intervals, draw_picture, drawable, plain_ticks
from fairseq_xl.report.page import Section
from fairseq_xl.report.tables import Table
from fairseq_xl.siamese.data.settings import SIDES
from fairseq_xl.siamese.evaluation.records import Record

Systems = dict[str, list[Record]]


@dataclass(frozen=True)
class Comparison:
    """All systems on one test set.

    Attributes:
        systems: runs by system.
        chosen: the system that the others are tested against.
        samples: draws for the intervals.
        intervals: of each system's macro-F1, 95 %.
    """

    systems: Systems
    chosen: str
    samples: int
    intervals: dict[str, tuple[float, float]]

    @property
    def first(self) -> Record:
        """A record of the test set. All have the same gold labels."""
        return next(iter(self.systems.values()))[0]


def compare(systems: Systems, chosen: str, samples: int = 2000) -> Comparison:
    """Systems with their intervals; see :func:`group`."""
    intervals = {
        name: bootstrap_interval(
            runs[0]["gold"], [run["predicted"] for run in runs], len(runs[0]["classes"]), samples=samples
        )
        for name, runs in systems.items()
    }
    return Comparison(systems, chosen, samples, intervals)


def learnt_from(record: Record) -> tuple[tuple[str, int], ...]:
    """Sides and their numbers of training sentences."""
    sizes = record["training_sentences"]
    return tuple((side, sizes[side]) for side in SIDES if side in sizes)


def group(records: Sequence[Record]) -> Systems:
    """Runs by system, in the order of the first record of each.

    Records of one name that learnt from different numbers of sentences are different systems, and their names say so.

    Raises:
        InputError: the records are of different test sets.
    """
    systems: Systems = defaultdict(list)
    first = records[0]
    sizes: dict[str, set[Any]] = defaultdict(set)
    for record in records:
        sizes[record["name"]].add(learnt_from(record))
    for record in records:
        if any(record[key] != first[key] for key in ("split", "classes", "gold")):
            names = " and ".join(dict.fromkeys(repr(one["name"]) for one in (first, record)))
            raise InputError(f"records of {names} are of different test sets: compare those of one data directory")
        name = record["name"]
        if len(sizes[name]) > 1:
            name += "".join(f", {count} {side}-resource" for side, count in learnt_from(record))
        systems[name].append(record)
    return dict(systems)


def matrices(runs: Sequence[Record]) -> list[np.ndarray]:
    """The confusion matrix of each run."""
    return [confusion(run["gold"], run["predicted"], len(run["classes"])) for run in runs]


def mean_f1(runs: Sequence[Record]) -> float:
    """Macro-F1, averaged over runs."""
    return float(np.mean([macro_f1(matrix) for matrix in matrices(runs)]))


def best(systems: Systems) -> str:
    return max(systems, key=lambda name: mean_f1(systems[name]))


def median_run(runs: Sequence[Record]) -> Record:
    """The run whose macro-F1 is the (lower) median: McNemar's test takes one run of each system."""
    ranked = sorted(runs, key=lambda run: mean_f1([run]))
    return ranked[(len(ranked) - 1) // 2]


def tables(comparison: Comparison) -> dict[str, Table]:
    """``scores``, a row for each system, and ``classes``, a row for each system and class."""
    systems, chosen, first = comparison.systems, comparison.chosen, comparison.first
    languages = "-".join(first["languages"].values())
    drawn = any(_over_draws(runs) for runs in systems.values())
    over_draws = ["± over draws"] if drawn else []
    scores = Table(
        f"{languages}, {len(first['classes'])} classes, {len(first['gold'])} {first['split']} sentences",
        ["system", "runs", "accuracy", "P", "R", "macro-F1", "95 % interval", "± over runs", *over_draws, "p"],
    )
    by_class = Table("Each class", ["system", "class", "P", "R", "F1", "sentences"], folded=True)
    for name, runs in systems.items():
        found = [class_scores(matrix) for matrix in matrices(runs)]
        macros = 100 * np.array([one.macro for one in found])
        low, high = comparison.intervals[name]
        p = "" if name == chosen else _p_value(median_run(systems[chosen]), median_run(runs))
        scores.add(
            name,
            str(len(runs)),
            f"{100 * np.mean([one.accuracy for one in found]):.1f}",
            *(f"{x:.1f}" for x in macros.mean(0)),
            f"{100 * low:.1f} to {100 * high:.1f}",
            f"{macros[:, 2].std(ddof=1):.1f}" if len(runs) > 1 else "",
            *([_over_draws(runs)] if drawn else []),
            p,
        )
        for c, label in enumerate(first["classes"]):
            means = (100 * np.mean([getattr(one, key)[c] for one in found]) for key in ("precision", "recall", "f1"))
            by_class.add(name, label, *(f"{x:.1f}" for x in means), str(first["gold"].count(c)))
    scores.notes.append(
        f"P, R and F1 are means over classes, in per cent, and over runs. Intervals: bootstrap over sentences and "
        f"runs, {comparison.samples} draws. p: McNemar's exact test against {chosen}, run with the median F1 of each."
    )
    if drawn:
        scores.notes.append(
            "± over draws: the standard deviation of macro-F1 by one draw of references alone, as a mean over runs. It "
            "is 0 where no class has more sentences than a draw takes, so that all draws are alike."
        )
    return {"scores": scores, "classes": by_class}


def _over_draws(runs: Sequence[Record]) -> str:
    drawn = [run.get("macro_f1_of_each_draw", ()) for run in runs]
    spreads = [100 * np.std(scores, ddof=1) for scores in drawn if len(scores) > 1]
    return f"{np.mean(spreads):.1f}" if spreads else ""


def _p_value(first: Record, second: Record) -> str:
    p = mcnemar(first["gold"], first["predicted"], second["predicted"])
    return "< 0.001" if p < 0.001 else f"{p:.3f}"


def curve(systems: Systems) -> dict[str, list[tuple[int, float, float]]]:
    """Training size of the low-resource language, mean and standard deviation of macro-F1, by line of the plot.

    Records of one line share ``line``, else their name, and differ in ``low_resource_size``, else in their training
    sentences. Systems of one size that name no line are left out.
    """
    points: dict[str, dict[int, list[float]]] = defaultdict(lambda: defaultdict(list))
    for runs in systems.values():
        for run in runs:
            size = run.get("low_resource_size") or run["training_sentences"].get("low")
            if size:
                points[run["line"] if "line" in run else run["name"]][size].append(mean_f1([run]))
    named = {run["line"] for runs in systems.values() for run in runs if "line" in run}
    return {
        line: [
            (size, 100 * float(np.mean(f)), 100 * float(np.std(f, ddof=1)) if len(f) > 1 else 0.0)
            for size, f in sorted(sizes.items())
        ]
        for line, sizes in points.items()
        if line in named or len(sizes) > 1
    }


def draw(comparison: Comparison, folder: Path) -> dict[str, list[Picture]]:
    """Figures by what they show: ``scores``, the ``learning-curve`` if there is one, and ``confusion``.

    The last has a matrix for each system, summed over runs.
    """
    systems = comparison.systems
    scores = draw_picture(
        folder,
        "macro-f1",
        "Macro-F1 of each system: mean over runs, 95 % interval as a line, single runs as small dots",
        lambda figure: _draw_scores(figure, comparison),
        (8.0, 1.2 + 0.32 * len(systems)),
    )
    matrices_of = [
        draw_picture(
            folder,
            f"confusion-{number}",
            f"Confusion matrix of {name}: share of each true class by predicted class",
            partial(
                _draw_confusion, matrix=np.sum(matrices(runs), axis=0), name=name, classes=comparison.first["classes"]
            ),
            (5.2, 4.6),
        )
        for number, (name, runs) in enumerate(systems.items(), start=1)
    ]
    lines = curve(systems)
    curves = []
    if lines:
        caption = "Macro-F1 by training sentences of the low-resource language; bars: standard deviation over runs"
        curves.append(
            draw_picture(folder, "learning-curve", caption, lambda figure: _draw_curve(figure, lines), (9.0, 4.5))
        )
    return {"scores": [scores], "learning-curve": curves, "confusion": matrices_of}


def sections(comparison: Comparison, figures: Path) -> list[Section]:
    """The tables and pictures as sections of a page. The pictures go to the folder ``figures``, too."""
    made, pictures = tables(comparison), draw(comparison, figures)
    found = [Section("Scores", "", [made["scores"]], pictures["scores"])]
    if pictures["learning-curve"]:
        text = "Systems that learnt from several numbers of the low-resource language's sentences."
        found.append(Section("Learning curve", text, [], pictures["learning-curve"]))
    return [*found, Section("Classes", "", [made["classes"]], pictures["confusion"])]


def _draw_scores(figure: Any, comparison: Comparison) -> None:
    names = list(comparison.systems)
    single = [[100 * mean_f1([run]) for run in comparison.systems[name]] for name in names]
    intervals = [(100 * low, 100 * high) for low, high in comparison.intervals.values()]
    axes = figure.subplots()
    draw_intervals(axes, names, [float(np.mean(scores)) for scores in single], intervals, single, "mean over runs")
    axes.set_xlabel("macro-F1 (%)")
    axes.grid(axis="x", alpha=0.3)


def _draw_confusion(figure: Any, matrix: np.ndarray, name: str, classes: Sequence[str]) -> None:
    axes = figure.subplots()
    shares = matrix / np.maximum(matrix.sum(1, keepdims=True), 1)
    picture = axes.imshow(shares, vmin=0, vmax=1, cmap="Blues")
    places, classes = range(len(classes)), [drawable(label) for label in classes]
    axes.set_xticks(places, classes, rotation=90 if len(classes) > 5 else 0)
    axes.set_yticks(places, classes)
    axes.set(xlabel="predicted", ylabel="true", title=name)
    if len(classes) <= 10:
        for row in places:
            for column in places:
                colour = "white" if shares[row, column] > 0.5 else "black"
                axes.text(column, row, f"{100 * shares[row, column]:.0f}", ha="center", va="center", color=colour)
    figure.colorbar(picture, label="share of the true class")


def _draw_curve(figure: Any, lines: dict[str, list[tuple[int, float, float]]]) -> None:
    axes = figure.subplots()
    for number, (line, points) in enumerate(lines.items()):
        sizes, means, spreads = zip(*points, strict=True)
        style = "-" if number < 10 else "--"  # by then there has been each colour
        axes.errorbar(sizes, means, spreads, marker="o", capsize=3, label=line, linestyle=style)
    axes.set(xscale="log", xlabel="training sentences of the low-resource language", ylabel="macro-F1 (%)")
    plain_ticks(axes.xaxis)
    figure.legend(loc="outside right upper")
