"""Pair classifiers side by side on one set of pairs: Hadgu's Table 2 with intervals, differences, pictures."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np

from fairseq_xl.pairs.evaluation.record import ClassifierRuns
from fairseq_xl.pairs.evaluation.scores import Scores, bootstrap, log_losses, mean, reliability, scores
from fairseq_xl.report.bootstrap import interval
from fairseq_xl.report.figures import Picture, draw_intervals, draw_picture
from fairseq_xl.report.page import Section
from fairseq_xl.report.tables import Table

CONSTANT = "constant prior"
"""The best constant, which gives each pair the reported pairs' own share of matches."""

Figures: TypeAlias = Mapping[str, tuple[float, float, float, float]]
"""A paper's log loss, precision, recall and F1, by classifier."""

PAPER: Figures = {
    "character_ngram": (0.7433, 0.61, 0.54, 0.56),
    "siamese_lstm": (0.4088, 0.84, 0.83, 0.84),
    "esim": (0.3114, 0.87, 0.87, 0.86),
    "decomposable_attention": (0.3072, 0.87, 0.88, 0.87),
    "siamese_conv": (0.3093, 0.87, 0.88, 0.87),
    "siamese_conv_lstm": (0.3072, 0.86, 0.86, 0.86),
    "siamese_conv_lstm_bilstm": (0.3134, 0.86, 0.87, 0.86),
}
"""Scores of Hadgu 2018, Table 2, by the names of `--arch` and of baselines."""

PANEL_BINS = 10
"""Bins of the reliability diagrams, wide enough for most to hold some pairs."""


@dataclass(frozen=True)
class Measured:
    """A classifier's scores.

    Attributes:
        runs: (R, N) probabilities.
        scores: means over the runs.
        draws: (samples,) of the mean log loss, with the same pairs for every classifier. None if no pairs can be drawn.
        seconds: of the training of all runs. None if unknown.
    """

    runs: np.ndarray
    scores: Scores
    draws: np.ndarray | None
    seconds: float | None


@dataclass(frozen=True)
class Comparison:
    """All pair classifiers on one set, the constant prior first.

    Attributes:
        gold, group: (N,)
    """

    split: str
    gold: np.ndarray
    group: np.ndarray
    measured: dict[str, Measured]

    @property
    def best(self) -> str:
        """The classifier with the lowest log loss."""
        return min(self.measured, key=lambda name: self.measured[name].scores.log_loss)


def compare(found: ClassifierRuns, samples: int = 2000) -> Comparison:
    """Score every classifier.

    Raises:
        InputError: the pairs have no labels, or scikit-learn is missing.
    """
    gold = found.labels
    runs = {CONSTANT: np.full((1, len(gold)), gold.mean()), **found.runs}
    seconds: dict[str, float | None] = {CONSTANT: None}
    for name, records in found.records.items():
        times = [record.about.get("training_seconds") for record in records]
        known = [time for time in times if time is not None]
        seconds[name] = sum(known) if len(known) == len(times) else None
    draws = None
    if _largest(found.group) <= len(gold) / 2:
        draws = bootstrap([log_losses(gold, one) for one in runs.values()], found.group, samples)
    measured = {
        name: Measured(
            one, mean([scores(gold, run) for run in one]), None if draws is None else draws[:, k], seconds[name]
        )
        for k, (name, one) in enumerate(runs.items())
    }
    split = next(iter(found.records.values()))[0].split
    return Comparison(split, gold, found.group, measured)


def _largest(group: np.ndarray) -> int:
    return int(np.unique(group, return_counts=True)[1].max())


def paper_for(own_names: Mapping[str, str]) -> Figures:
    """:data:`PAPER` by the names of classifiers in a report, where these differ from their own.

    Args:
        own_names: of the classifiers, by those names.
    """
    known = {shown: PAPER[own] for shown, own in own_names.items() if own in PAPER}
    return {**known, **{own: figures for own, figures in PAPER.items() if own not in own_names.values()}}


def tables(found: Comparison, against: str, paper: Figures | None = None) -> dict[str, Table]:
    """``scores``, a row a classifier, and ``differences`` of the log loss from that of ``against``.

    Args:
        paper: show the paper's figures beside ours, and its algorithms without a record here.
    """
    headings = ["classifier", "runs", "log loss", "95 % interval", "P", "R", "F1", "P+", "R+", "F1+"]
    headings += ["average precision", "ECE", "training seconds"]
    headings += ["paper's log loss", "paper's P", "paper's R", "paper's F1"] if paper else []
    pairs, positive = len(found.gold), int(found.gold.sum())
    table = Table(f"{pairs} {found.split} pairs, {positive} of them matching", headings)
    for name, one in found.measured.items():
        s = one.scores
        cells = [name, "" if name == CONSTANT else str(len(one.runs)), f"{s.log_loss:.4f}", _interval(one.draws)]
        decided = (s.weighted_precision, s.weighted_recall, s.weighted_f1, s.precision, s.recall, s.f1)
        cells += [f"{x:.2f}" for x in decided]
        cells += ["" if math.isnan(s.average_precision) else f"{s.average_precision:.3f}"]
        cells += [f"{s.calibration_error:.3f}", "" if one.seconds is None else f"{one.seconds:.0f}"]
        table.add(*cells, *(_paper(name, paper) if paper else ()))
    if paper:
        for name in paper:
            if name not in found.measured:
                table.add(name, "0", *[""] * 11, *_paper(name, paper))
    table.notes += [
        "Means over runs. P, R and F1: of both labels, weighted by how often each is true, at a probability of 0.5; "
        "R is the accuracy. P+, R+ and F1+: of matching pairs. ECE: expected calibration error, 15 bins. Log loss: "
        "natural, probabilities clipped to 2.2e-16. Training seconds: of all runs.",
        f"{CONSTANT}: {found.gold.mean():.3f} for every pair, the share of these very pairs that match.",
        _about_intervals(found),
    ]
    if paper:
        table.notes.append(
            "Paper: Hadgu 2018, Table 2: means of the best 3 to 5 runs, on a set that the paper gives 1,400 pairs. "
            "It names no kind of average. Rows with F1 below P and R fit the weighted one. The row character_ngram "
            "then implies 22 to 34 % matching pairs. A constant prior scores 0.53 to 0.64 on such pairs."
        )
    differences = Table(f"Log loss, less that of {against}", ["classifier", "difference", "95 % interval"])
    base = found.measured[against]
    for name, one in found.measured.items():
        if name != against:
            apart = one.scores.log_loss - base.scores.log_loss
            draws = None if one.draws is None or base.draws is None else one.draws - base.draws
            differences.add(name, _signed(apart), _interval(draws, _signed))
    differences.notes.append("Paired: both losses on the same draw of pairs. No correction for many comparisons.")
    return {"scores": table, "differences": differences}


def _paper(name: str, paper: Figures) -> list[str]:
    if name not in paper:
        return [""] * 4
    loss, *rest = paper[name]
    return [f"{loss:.4f}", *(f"{x:.2f}" for x in rest)]


def _signed(x: float) -> str:
    return f"{x:+.4f}".replace("-", "−")


def _plain(x: float) -> str:
    return f"{x:.4f}"


def _interval(draws: np.ndarray | None, shown: Callable[[float], str] = _plain) -> str:
    return "" if draws is None else " to ".join(map(shown, interval(draws)))


def _about_intervals(found: Comparison) -> str:
    groups, largest = len(np.unique(found.group)), _largest(found.group)
    drawn = next(iter(found.measured.values())).draws
    if drawn is None:
        return (
            f"No intervals: pairs with a sentence in common are drawn together, and that would be {largest} of the "
            f"{len(found.gold)} at once."
        )
    return (
        f"Intervals: percentiles of {len(drawn)} bootstrap draws of the runs, and of the {groups} groups of pairs "
        f"that have sentences in common (the largest: {largest} pairs)."
    )


def draw(found: Comparison, folder: Path, paper: Figures | None = None) -> dict[str, Picture]:
    """``log-loss`` and ``reliability``, as PNG and PDF."""
    losses = draw_picture(
        folder,
        "log-loss",
        "Log loss of each classifier: mean over runs, 95 % interval as a line, single runs as small dots; dashed: the "
        f"constant prior{'; diamonds: the paper' if paper else ''}",
        lambda figure: _draw_losses(figure, found, paper or {}),
        (8.0, 1.2 + 0.32 * len(found.measured)),
    )
    shown = [name for name in found.measured if name != CONSTANT]
    columns = min(len(shown), 4)
    rows = math.ceil(len(shown) / columns)
    reliable = draw_picture(
        folder,
        "reliability",
        "Share of matching pairs by the probability given, for each classifier; the dashed diagonal is perfect",
        lambda figure: _draw_reliability(figure, found, shown, rows, columns),
        (0.6 + 2.5 * columns, 0.5 + 2.6 * rows),
    )
    return {"log-loss": losses, "reliability": reliable}


def sections(found: Comparison, against: str, figures: Path, paper: Figures | None = None) -> list[Section]:
    """The tables and pictures as sections of a page. The pictures go to the folder ``figures``, too."""
    made, pictures = tables(found, against, paper), draw(found, figures, paper)
    text = "A calibrated classifier lies on the diagonal: of the pairs to which it gives 0.8, 80 % match."
    return [
        Section("Scores", "", [made["scores"]], [pictures["log-loss"]]),
        Section("Differences", "", [made["differences"]]),
        Section("Calibration", text, [], [pictures["reliability"]]),
    ]


def _draw_losses(figure: Any, found: Comparison, paper: Figures) -> None:
    axes = figure.subplots()
    line = found.measured[CONSTANT].scores.log_loss
    axes.axvline(line, linestyle="--", color="gray", label=f"{CONSTANT}, {line:.3f}")
    names = [name for name in found.measured if name != CONSTANT]
    shown = [found.measured[name] for name in names]
    draw_intervals(
        axes,
        names,
        [one.scores.log_loss for one in shown],
        [None if one.draws is None else interval(one.draws) for one in shown],
        [log_losses(found.gold, one.runs).mean(1).tolist() for one in shown],
        "ours",
    )
    places = [place for place, name in enumerate(names) if name in paper]
    if places:
        losses = [paper[names[place]][0] for place in places]
        axes.plot(losses, places, "D", color="C1", fillstyle="none", label="paper")
    axes.set_xlabel(f"log loss on {len(found.gold)} pairs")
    figure.legend(loc="outside upper center", ncols=3)


def _draw_reliability(figure: Any, found: Comparison, names: list[str], rows: int, columns: int) -> None:
    panels = figure.subplots(rows, columns, sharex=True, sharey=True, squeeze=False).ravel()
    for panel in panels[len(names) :]:
        panel.set_visible(False)
    for panel in panels[len(names) - columns : len(names)]:  # the lowest that show
        panel.tick_params(labelbottom=True)
    for panel, name in zip(panels, names, strict=False):
        runs = found.measured[name].runs
        bins = reliability(np.tile(found.gold, len(runs)), runs.ravel(), PANEL_BINS)
        panel.plot([0, 1], [0, 1], "--", color="gray", linewidth=1)
        panel.plot(bins.said, bins.true, color="C0", linewidth=1)
        panel.scatter(bins.said, bins.true, 4 + 250 * bins.pairs / bins.pairs.sum(), color="C0")
        panel.set(title=name, xlim=(-0.03, 1.03), ylim=(-0.03, 1.03), aspect="equal")
        panel.set(xticks=(0, 0.5, 1), yticks=(0, 0.5, 1))
        panel.title.set_fontsize("medium")
    figure.supxlabel("probability given (area: pairs)")
    figure.supylabel("share that matches")
