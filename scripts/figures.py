"""Draw the pictures of README and docs/: python scripts/figures.py [NAME …]

Each is a function here, drawn with the style of reports, and written to docs/figures/NAME.png.
"""

from __future__ import annotations

import argparse
import csv
import json
import math
import statistics
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT), str(ROOT / "scripts")]  # the checkout's package, before any that is installed

FOLDER = ROOT / "docs" / "figures"
BLUE, ORANGE, GREEN, GREY = "tab:blue", "tab:orange", "tab:green", "0.45"
POINTS = {"textcoords": "offset points"}
DRAWN: dict[str, tuple[Callable[[Any], None], tuple[float, float]]] = {}
"""Name of a picture -> what draws it, and its size in inches."""


def picture(name: str, width: float, height: float) -> Callable[[Callable[[Any], None]], Callable[[Any], None]]:
    """Enter a drawing function under the name of its file."""

    def enter(draw: Callable[[Any], None]) -> Callable[[Any], None]:
        DRAWN[name] = draw, (width, height)
        return draw

    return enter


def arrow(axes: Any, start: tuple[float, float], end: tuple[float, float], **style: Any) -> None:
    """An arrow between two points of the picture."""
    settings = {"arrowstyle": "-|>", "shrinkA": 0, "shrinkB": 0, "mutation_scale": 14, "lw": 1.8, **style}
    axes.annotate("", xy=end, xytext=start, arrowprops=settings)


def box(axes: Any, x: float, y: float, width: float, height: float, text: str, colour: str) -> None:
    """A rounded box with a text in its middle."""
    from matplotlib.patches import FancyBboxPatch

    style = "round,pad=0,rounding_size=0.12"
    axes.add_patch(FancyBboxPatch((x, y), width, height, style, fc=colour, ec="0.3", lw=1, alpha=0.25))
    axes.text(x + width / 2, y + height / 2, text, ha="center", va="center", fontsize=11)


@picture("continuous-output", 10, 3.5)
def continuous_output(figure: Any) -> None:
    """A softmax beside a continuous output."""
    import numpy as np

    left, right = figure.subplots(1, 2)
    for axes, title in ((left, "Softmax: one score for every word"), (right, "Continuous output: one vector")):
        axes.set(xlim=(0, 10), ylim=(0.4, 6.2), aspect="equal")
        axes.axis("off")
        axes.set_title(title, fontsize=13)
        box(axes, 0.2, 2.4, 2.2, 1.6, "decoder's\nstate", GREY)
    words = ("dog", "cat", "runs", "walks", "the", "…")
    heights = (0.92, 0.42, 0.3, 0.22, 0.12, 0.08)
    box(left, 3.6, 0.7, 2.0, 5.0, "V × d\nweights,\nlearnt", ORANGE)
    arrow(left, (2.4, 3.2), (3.5, 3.2), color="0.3")
    arrow(left, (5.7, 3.2), (6.6, 3.2), color="0.3")
    for place, (word, height) in enumerate(zip(words, heights, strict=True)):
        y = 5.2 - 0.85 * place
        left.barh(y, 1.9 * height, left=8.0, height=0.5, color=ORANGE)
        left.text(7.8, y, word, ha="right", va="center", fontsize=11)
    box(right, 3.4, 2.4, 1.7, 1.6, "d × d\nweights", BLUE)
    arrow(right, (2.4, 3.2), (3.3, 3.2), color="0.3")
    centre, radius = (7.7, 3.2), 2.15
    arrow(right, (5.1, 3.2), (centre[0] - radius - 0.05, 3.2), color="0.3")
    angles = np.linspace(0, 2 * np.pi, 200)
    right.plot(centre[0] + radius * np.cos(angles), centre[1] + radius * np.sin(angles), color="0.75", lw=1)
    for word, degrees in (("dog", 62), ("cat", 95), ("runs", 222), ("walks", 248), ("the", 318)):
        angle = np.radians(degrees)
        x, y = centre[0] + radius * np.cos(angle), centre[1] + radius * np.sin(angle)
        right.plot([x], [y], "o", color=GREEN if word == "dog" else GREY, ms=7)
        away = 1.17
        right.text(
            *(centre[0] + away * radius * np.cos(angle), centre[1] + away * radius * np.sin(angle), word),
            ha="left" if np.cos(angle) > 0.2 else "right" if np.cos(angle) < -0.2 else "center",
            va="center",
            fontsize=11,
        )
    tip = np.radians(49)
    arrow(right, centre, (centre[0] + 0.93 * radius * np.cos(tip), centre[1] + 0.93 * radius * np.sin(tip)), color=BLUE)
    right.text(centre[0] + 0.1, centre[1] - 0.45, "prediction", color=BLUE, fontsize=11)


@picture("negatives-made", 10, 3.4)
def negatives_made(figure: Any) -> None:
    """A target, a prediction, and the negative that each syn-margin loss makes of them."""
    import numpy as np

    for axes, title, kind in zip(
        figure.subplots(1, 2), ("syn_margin_proj", "syn_margin_diff"), ("projection", "difference"), strict=True
    ):
        axes.set(xlim=(-1.75, 2.0), ylim=(-0.4, 1.25), aspect="equal")
        axes.axis("off")
        axes.set_title(title, fontsize=13, family="monospace")
        angles = np.linspace(-0.45, math.pi + 0.45, 200)
        axes.plot(np.cos(angles), np.sin(angles), color="0.8", lw=1)
        target, predicted = np.array([1.0, 0.0]), np.array([math.cos(math.radians(55)), math.sin(math.radians(55))])
        along = target * (predicted @ target)
        negative = predicted - (along if kind == "projection" else target)
        negative /= np.linalg.norm(negative)
        if kind == "projection":
            axes.plot(*zip(along, predicted, strict=True), ":", color=GREY, lw=1.5)
        else:
            axes.plot(*zip(target, predicted, strict=True), ":", color=GREY, lw=1.5)
        places = {"target u": (target, GREEN, (1.05, -0.14)), "prediction û": (predicted, BLUE, (0.66, 0.9))}
        label = (-0.62, 1.08) if kind == "projection" else (-1.5, 0.98)
        places["negative u′"] = (negative, ORANGE, label)
        for name, (end, colour, place) in places.items():
            arrow(axes, (0, 0), tuple(end), color=colour)
            axes.text(*place, name, color=colour, fontsize=12)


@picture("losses-by-angle", 10, 4.0)
def losses_by_angle(figure: Any) -> None:
    """What each loss asks of a prediction at some angle from its target, and where it lets go."""
    import numpy as np

    left, right = figure.subplots(1, 2)
    degrees = np.linspace(0, 180, 721)
    angle = np.radians(degrees)
    cosine = np.cos(angle)
    across = {
        "syn_margin_proj, λ = 0.5": (0.5, np.sin(angle), BLUE),
        "syn_margin_diff, λ = 0.7": (0.7, np.sqrt((1 - cosine) / 2), ORANGE),
        "negative_sampling, λ = 0.75": (0.75, np.zeros_like(cosine), GREEN),
    }
    for name, (margin, negative, colour) in across.items():
        left.plot(degrees, np.maximum(0, margin + negative - cosine), color=colour, label=name)
    left.plot(degrees, 1 - cosine, "--", color=GREY, label="cosine")
    left.set(xlabel="angle between prediction and target, degrees", ylabel="loss", xlim=(0, 180), ylim=(0, 3))
    left.set_xticks(range(0, 181, 45))
    left.legend(frameon=False, fontsize=10)
    margins = np.linspace(0, 1, 101)
    # c - sqrt(1 - c²) = λ and c - sqrt((1 - c)/2) = λ, solved for c; sampled words are orthogonal to the target.
    projection = (margins + np.sqrt(2 - margins**2)) / 2
    difference = margins - 0.25 + np.sqrt((0.25 - margins) ** 2 + 0.5 - margins**2)
    right.plot(margins, projection, color=BLUE, label="syn_margin_proj")
    right.plot(margins, difference, color=ORANGE, label="syn_margin_diff")
    right.plot(margins, margins, color=GREEN, label="negative_sampling")
    for margin, stop, colour in ((0.5, projection[50], BLUE), (0.7, difference[70], ORANGE), (0.75, 0.75, GREEN)):
        right.plot([margin], [stop], "o", color=colour)
    right.set(xlabel="margin λ", ylabel="cosine at which the loss lets go", xlim=(0, 1), ylim=(0, 1.02))
    right.legend(frameon=False, fontsize=10, title="dots: the defaults")


@picture("vmf-by-norm", 10, 4.0)
def vmf_by_norm(figure: Any) -> None:
    """The von Mises-Fisher density by angle, and its loss by the norm of the prediction."""
    import torch

    from fairseq_xl.losses import vmf_log_normalizer

    left, right = figure.subplots(1, 2)
    degrees = torch.linspace(0, 90, 361, dtype=torch.float64)
    cosine = torch.cos(torch.deg2rad(degrees))
    for number, kappa in enumerate((5, 20, 100, 500)):
        left.plot(degrees, torch.exp(kappa * (cosine - 1)), color=f"C{number}", label=f"κ = {kappa}")
    left.set(
        xlabel="angle from the mean direction, degrees", ylabel="density, by its maximum", xlim=(0, 90), ylim=(0, 1)
    )
    left.legend(frameon=False, fontsize=10)
    norms = torch.logspace(0, 4, 400, dtype=torch.float64)
    normaliser = -vmf_log_normalizer(norms, 300)
    for shown, lambda1, lambda2, colour in (
        ("plain likelihood", 0.0, 1.0, ORANGE),
        ("regularised", 0.02, 0.1, BLUE),
    ):
        loss = normaliser - lambda2 * 0.9 * norms + lambda1 * norms
        loss = (loss - loss.min()) / (loss[0] - loss.min())
        best = int(loss.argmin())
        right.semilogx(norms, loss, color=colour, label=shown)
        right.plot([norms[best]], [loss[best]], "o", color=colour)
        right.annotate(
            f"{shown}\nκ = {norms[best]:,.0f}", (float(norms[best]), 0), (0, -32), color=colour, ha="center", **POINTS
        )
    right.set(xlabel="norm of the prediction, κ = ‖e‖", ylabel="loss", ylim=(-0.4, 1.3), xlim=(1, 1e4))
    right.set_title("300 dimensions, cosine 0.9", fontsize=12)
    right.set_xticks([1, 10, 100, 1000, 10000], ["1", "10", "100", "1,000", "10,000"])
    right.minorticks_off()
    right.set_yticks([0, 1], ["least", "at κ = 1"])


LOSSES = (
    *("cross_entropy", "syn_margin_proj", "syn_margin_diff", "cosine", "vmf"),
    *("most_informative_negative", "negative_sampling"),
)


@picture("bleu-by-loss", 10, 3.8)
def bleu_by_loss(figure: Any) -> None:
    """BLEU at beam 5 of each loss from the kept records: seeds, their mean and range."""
    from results import groups, score

    found = groups()
    panels = figure.subplots(1, 2, sharey=True)
    for axes, corpus in zip(panels, ("Multi30k de→en", "Multi30k fr→en"), strict=True):
        for place, loss in enumerate(reversed(LOSSES)):
            values = [score(record, 5) for record in found[corpus, f"`{loss}`"]]
            colour = ORANGE if loss == "cross_entropy" else BLUE
            axes.plot(
                [min(values), max(values)], [place, place], color=colour, lw=5, alpha=0.35, solid_capstyle="round"
            )
            axes.plot([statistics.mean(values)], [place], "o", color=colour, ms=7)
            axes.annotate(f"{statistics.mean(values):.1f}", (max(values), place), (8, -4), **POINTS)
        axes.set_title(f"{corpus}, BLEU at beam 5", fontsize=12)
        axes.grid(axis="x", alpha=0.3)
        axes.margins(x=0.2, y=0.08)
    panels[0].set_yticks(range(len(LOSSES)), reversed(LOSSES), family="monospace", fontsize=11)


SAMPLES = " negatives=1000 negatives_power=0.75"


def going_on(
    epochs: str, search: str, units: str = "", words: str = "", more: str = "", softmax: str = "softmax"
) -> str:
    """What the tables call `combined` after a short softmax."""
    targets = f"targets of a {softmax} of {epochs}, which it goes on from"
    return f"`combined`{units}, {targets}{words}, `label_smoothing=0.05{more}`, `{search}`"


def translation_systems(penalty: int) -> dict[str, str]:
    """What the picture and the tables call the systems on Multi30k. Those without unknown words have a penalty of 3."""
    source, all_words = ", `bpe4000.source`", ", all target words"
    return {
        "softmax": f"`cross_entropy`, `--unkpen {penalty}`",
        "softmax, source subwords": "`cross_entropy`, `bpe4000.source`, `--unkpen 3`",
        "softmax, subwords": "`cross_entropy`, `bpe4000`, `--unkpen 3`",
        "combined": going_on("3 epochs", f"--unkpen {penalty}"),
        "combined, source subwords": going_on("4 epochs", "--unkpen 3", source),
        "the same, all words": going_on("4 epochs", "--unkpen 3", source, all_words),
        "combined, subwords": going_on("4 epochs", "--unkpen 3 --lenpen 1.25", ", `bpe4000`"),
    }


COMBINED = {
    "Multi30k de→en": translation_systems(3),
    "Multi30k fr→en": translation_systems(8),
    "Tatoeba de→en": {
        "softmax": "`cross_entropy`, `--unkpen 3`",
        "softmax, tied": "`cross_entropy_tied`, `--unkpen 3`",
        "softmax, 1,000 samples": "`cross_entropy`, 1,000 samples, `--unkpen 3`",
        "softmax, tied, 1,000 samples": "`cross_entropy_tied`, 1,000 samples, `--unkpen 3`",
        "combined, 1,000 samples": going_on("6 epochs with 1,000 samples", "--unkpen 3", more=SAMPLES),
        "the same, after a tied softmax": going_on(
            "6 epochs with 1,000 samples", "--unkpen 3", more=SAMPLES, softmax="tied softmax"
        ),
        "the same, source subwords": going_on(
            "3 epochs with 1,000 samples", "--unkpen 3", ", `bpe8000.source`", more=SAMPLES
        ),
        "the same, subwords": going_on("3 epochs with 1,000 samples", "--unkpen 3", ", `bpe8000`", more=SAMPLES),
    },
}
"""Data -> what the picture calls a system -> what the tables call it."""


@picture("combined", 10, 6.6)
def combined(figure: Any) -> None:
    """BLEU at beam 5 of every run of softmaxes and of `combined`, from the kept records, and the means."""
    from result_names import on_gpu
    from results import groups, score

    found = groups()
    panels = figure.subplots(2, 2).flat
    for axes, (corpus, systems) in zip(panels, COMBINED.items(), strict=False):
        for place, name in enumerate(systems.values()):
            runs = found.get((corpus, name), []) + found.get((corpus, f"{name}, on a GPU"), [])
            colour = BLUE if "combined" in name else ORANGE
            mean = statistics.mean(score(run, 5) for run in runs)
            axes.plot([mean, mean], [place - 0.3, place + 0.3], color=colour, lw=2.5)
            for run in runs:
                axes.plot([score(run, 5)], [place], "s" if on_gpu(run) else "o", color=colour, ms=6, alpha=0.5)
            axes.annotate(f"{mean:.1f}", (1.02, place), xycoords=("axes fraction", "data"), va="center")
        axes.set_title(f"{corpus}, BLEU at beam 5", fontsize=12)
        axes.set_yticks(range(len(systems)), systems)
        axes.invert_yaxis()
        axes.grid(axis="x", alpha=0.3)
    legend = figure.axes[3]
    for marker, shown in (("o", "a run on a CPU"), ("s", "a run on a GPU")):
        legend.plot([], [], marker, color=GREY, label=shown)
    legend.plot([], [], "-", color=GREY, lw=2.5, label="mean of the runs")
    legend.plot([], [], "-", color=ORANGE, lw=5, label="softmax")
    legend.plot([], [], "-", color=BLUE, lw=5, label="vectors, going on from a short softmax")
    legend.legend(frameon=False, loc="center", fontsize=11)
    legend.axis("off")


CURVES = ROOT / "recipes" / "records" / "curves"


@picture("curves", 13, 4)
def curves(figure: Any) -> None:
    """Speed of training, and BLEU on validation by minutes and by epochs, from the kept records."""
    speed, minutes, epochs = figure.subplots(1, 3)
    names = ("vmf", "syn_margin_proj", "cross_entropy")
    for place, (loss, colour) in enumerate(zip(names, (GREEN, BLUE, ORANGE), strict=True)):
        path = CURVES / f"multi30k.curves.{loss}.seed1.json"
        quality = json.loads(path.read_text(encoding="utf-8"))["quality"]
        speed.barh(place, quality["sentences_per_second"], color=colour)
        speed.annotate(
            f"{quality['sentences_per_second']:.0f}", (quality["sentences_per_second"], place), (5, -4), **POINTS
        )
        points = quality["epochs, minutes, BLEU"]
        minutes.plot([point[1] for point in points], [point[2] for point in points], color=colour, label=loss)
        epochs.plot([point[0] for point in points], [point[2] for point in points], color=colour, label=loss)
    speed.set_yticks(range(3), names, family="monospace", fontsize=11)
    speed.set_xlabel("training sentences a second")
    speed.margins(x=0.15)
    for axes, unit in ((minutes, "minutes of training"), (epochs, "epochs")):
        axes.set(xlabel=unit, ylabel="BLEU on validation")
        axes.grid(alpha=0.3)
    epochs.legend(frameon=False, fontsize=10, loc="lower right")


@picture("curves-losses", 8, 4.5)
def curves_losses(figure: Any) -> None:
    """BLEU on validation by epochs of every loss, from the kept records of runs on a GPU."""
    axes = figure.subplots()
    records = [json.loads(path.read_text(encoding="utf-8")) for path in sorted(CURVES.glob("*.json"))]
    for record in (record for record in records if record["device"].startswith("cuda")):
        points = record["quality"]["epochs, minutes, BLEU"]
        axes.plot([point[0] for point in points], [point[2] for point in points], label=record["loss"])
    axes.set(xlabel="epochs", ylabel="BLEU on validation")
    axes.grid(alpha=0.3)
    axes.legend(frameon=False, fontsize=10, loc="lower right")


@picture("negatives", 10, 3.6)
def negatives(figure: Any) -> None:
    """The parts of negatives along the target and across it over training, from the kept record."""
    from fairseq_xl.report.diagnosis.figures import draw_over_training

    record = json.loads((CURVES / "multi30k.curves.syn_margin_proj.seed1.json").read_text(encoding="utf-8"))
    measured = record["negatives"]
    draw_over_training(figure, [{"updates": one["updates"], "stability": one} for one in measured])


class Curve(NamedTuple):
    """A panel of label transfer: records of one low-resource language, from few training sentences to all."""

    title: str
    language: str
    low: str
    high: str
    files: tuple[str, ...]
    about: str = ""
    whole: int = 1656

    def systems(self) -> dict[str, str]:
        """As records call them, and as a picture does."""
        return {
            f"SSC({self.low}-{self.high}){self.about}": "with English labels",
            f"SSC({self.low}-{self.low})": "alone",
            f"SSC({self.low}-{self.high}), labels shuffled{self.about}": "with shuffled English labels",
        }


def translated_tweets(language: str, low: str, *files: str, whole: int = 1656) -> Curve:
    return Curve("Sentiment, 46,973 translated tweets", language, low, "en-semeval", files, ", words translated", whole)


@picture("label-transfer", 10, 10)
def label_transfer(figure: Any) -> None:
    """Macro-F1 of the Siamese encoder by the number of low-resource training sentences, from the kept records."""
    folder = ROOT / "recipes" / "records" / "siamese"
    curves = (
        Curve("Sentiment, 2,409 English tweets", "Spanish", "es", "en", ("sentiment.es.csv",)),
        Curve("Emoji, 25,253 English tweets", "Spanish", "es", "en", ("emoji.es-en.5.csv",), whole=3612),
        translated_tweets("Spanish", "es", "sizes.es.csv"),
        translated_tweets("German", "de", "lexicon.de.csv", "sizes.de.csv"),
        translated_tweets("French", "fr", "lexicon.fr.csv", "sizes.fr.csv"),
        translated_tweets("Portuguese", "pt", "lexicon.pt.csv", "sizes.pt.csv", whole=1655),
    )
    for axes, curve in zip(figure.subplots(3, 2).flat, curves, strict=True):
        rows: dict[str, dict[str, str]] = {}
        for name in curve.files:
            with (folder / name).open(encoding="utf-8", newline="") as stream:
                rows |= {row["system"]: row for row in csv.DictReader(stream)}
        for number, (system, label) in enumerate(curve.systems().items()):
            points = []
            for count in (50, 100, 200, 400, 1000, curve.whole):
                row = rows.get(system if count == curve.whole else f"{system}, {count} sentences")
                if row is not None:
                    low, _, high = row["95 % interval"].partition(" to ")
                    points.append((count, float(row["macro-F1"]), float(low), float(high)))
            counts, means, lows, highs = zip(*points, strict=True)
            shifted = [count * 1.04 ** (number - 1) for count in counts]
            below = [mean - low for mean, low in zip(means, lows, strict=True)]
            above = [high - mean for mean, high in zip(means, highs, strict=True)]
            axes.errorbar(shifted, means, (below, above), fmt="o-", capsize=3, color=f"C{number}", label=label)
        axes.set_xscale("log")
        axes.set_xticks(counts, [f"{count:,}" for count in counts], fontsize=9)
        axes.minorticks_off()
        axes.set(xlabel=f"{curve.language} training sentences", ylabel="macro-F1, %")
        axes.set_title(curve.title, fontsize=12)
        axes.grid(axis="y", alpha=0.3)
    figure.legend(*axes.get_legend_handles_labels(), loc="outside lower center", ncols=3, frameon=False)


@picture("embedding-map", 10, 5.6)
def embedding_map(figure: Any) -> None:
    """Sentences of eight tag sequences by a trained encoder and by the same one untrained, from the kept records."""
    folder = ROOT / "recipes" / "records" / "syntactic"
    panels = figure.subplots(1, 2)
    for axes, name, title in zip(
        panels, ("untrained", "trained"), ("upos_lstm, untrained", "upos_lstm, after 600 updates"), strict=True
    ):
        with (folder / f"map.{name}.csv").open(encoding="utf-8", newline="") as stream:
            rows = list(csv.DictReader(stream))
        for number, tags in enumerate(dict.fromkeys(row["tags"] for row in rows)):
            for language, marker in (("en", "o"), ("pt", "s")):
                here = [row for row in rows if (row["tags"], row["language"]) == (tags, language)]
                if here:
                    x, y = ([float(row[column]) for row in here] for column in "xy")
                    words = tags.split()
                    label = f"{' '.join(words[:5])}{' …' if len(words) > 5 else ''}, {language}"
                    axes.plot(x, y, marker, color=f"C{number}", ms=4.5, alpha=0.8, label=label)
        axes.set_title(title, fontsize=12, family="monospace")
        axes.set_xticks([])
        axes.set_yticks([])
    handles, labels = panels[1].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=3, frameon=False, fontsize=9)


@picture("nearest-words", 10, 4.6)
def nearest_words(figure: Any) -> None:
    """The words nearest to each vector that a model predicts for a sentence, from the kept output of a command."""
    source, *lines = (ROOT / "recipes" / "records" / "nearest.txt").read_text(encoding="utf-8").splitlines()
    axes = figure.subplots()
    for row, line in enumerate(lines):
        first, others = line.split("|")
        word, cosine, _, kappa = first.split()
        for column, (near, value) in enumerate([(word, cosine), *zip(*[iter(others.split())] * 2, strict=True)]):
            colour = (0.12, 0.47, 0.71, max(0.0, float(value)) ** 2 * 0.75)
            axes.barh(row, 0.94, left=column, height=0.88, color=colour)
            weight = "bold" if column == 0 else "normal"
            axes.text(column + 0.05, row, near, va="center", fontsize=11, fontweight=weight)
            axes.text(column + 0.89, row, value, va="center", ha="right", fontsize=9, color="0.25")
        axes.text(4.4, row, kappa, va="center", ha="right", fontsize=11)
    heads = {0.05: "predicted word", 1.05: "next nearest", 2.05: "third", 3.05: "fourth", 4.2: "‖e‖"}
    for x, head in heads.items():
        axes.text(x, -0.85, head, va="center", fontsize=10, color="0.35")
    axes.set_title(source.removeprefix("source: "), fontsize=12, loc="left", pad=8)
    axes.set(xlim=(0, 4.5), ylim=(len(lines) - 0.5, -1.3))
    axes.axis("off")


def main(arguments: list[str] | None = None) -> None:
    """Draw the pictures that are named, or all."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"one of {', '.join(DRAWN)}; by default all")
    args = parser.parse_args(arguments)
    if unknown := set(args.names) - DRAWN.keys():
        parser.error(f"there is no picture {min(unknown)}: the names are {', '.join(DRAWN)}")
    from fairseq_xl.io.atomic import atomic_outputs
    from fairseq_xl.report.figures import rendered

    for name in args.names or DRAWN:
        draw, size = DRAWN[name]
        image = rendered(draw, size, "png")
        with atomic_outputs(FOLDER / f"{name}.png") as (file,):
            file.write_bytes(image)


if __name__ == "__main__":
    main()
