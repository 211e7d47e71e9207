"""Table 2 and section 3.1 of the syn-margin paper, angles and hubs, as ``fairseq-xl translate diagnose`` measured."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from fairseq_xl.report.curves import draw_course, logged
from fairseq_xl.report.figures import draw_picture, plain_ticks
from fairseq_xl.report.page import Section
from fairseq_xl.report.runs import Run, by_system, colours
from fairseq_xl.report.scores import spread
from fairseq_xl.report.tables import Table

Groups = Mapping[str, Sequence[Mapping[str, Any]]]
"""The measurements of each system's runs, by label: an entry of a report's ``checkpoints`` for each seed."""

SETTINGS = {"teacher_forcing": "teacher forcing", "own_decoding": "own greedy decoding"}
SIMILARITIES = {
    "nearest_when_correct": "cos to nearest, correct",
    "nearest_when_wrong": "cos to nearest, wrong",
    "target_when_wrong": "cos to target, wrong",
    "target": "cos to target, all",
}
SOURCES = {
    "projection": "projection",
    "difference": "difference",
    "uniform": "sampled uniformly",
    "most_informative": "most informative",
}


def _measured(run: Run) -> dict[str, Any]:
    """The diagnostics of a run that has some."""
    assert run.diagnostics is not None
    return run.diagnostics


def sections(runs: Sequence[Run], labels: Mapping[str, str], folder: Path) -> list[Section]:
    """What there is to show of the runs that were diagnosed; nothing where none was."""
    diagnosed = [run for run in runs if run.diagnostics]
    if not diagnosed:
        return []
    # The last checkpoint of a report is the one that translates.
    groups: Groups = {
        labels.get(system, system): [_measured(run)["checkpoints"][-1] for run in group]
        for system, group in by_system(diagnosed).items()
    }
    over_training = {
        labels.get(run.system, run.system): _measured(run)["checkpoints"]
        for run in reversed(diagnosed)
        if len(_measured(run)["checkpoints"]) > 2
    }
    figures = folder / "figures"
    colour_of = colours(runs, labels)
    split = _measured(diagnosed[0])["split"]
    tables = [similarity_table(groups, setting) for setting in SETTINGS]
    predictions = Section(
        "Predictions and targets",
        f"Measured on {split}. With teacher forcing each prediction follows the reference's words. In its own "
        "decoding it follows the model's words, and is paired with the reference's word at the same position.",
        tables,
    )
    words = neighbour_table(diagnosed, labels)
    if words.rows:
        predictions.tables.append(words)
    pictures = [
        draw_picture(
            figures,
            "negatives",
            "The components λ₃ and λ₄ of a negative for four sources of negatives: 5th to 95th percentile, quartiles "
            "and median. λ₃ is along the target, and λ₄ along the part of the prediction that is orthogonal to it",
            lambda figure: draw_components(figure, groups),
            (11.0, 1.4 + 0.9 * len(groups)),
        )
    ]
    for label, checkpoints in over_training.items():
        pictures.append(
            draw_picture(
                figures,
                f"negatives-over-training-{len(pictures)}",
                f"The same over the training of {label}: median and 5th to 95th percentile",
                partial(draw_over_training, checkpoints=checkpoints),
            )
        )
    negatives = Section(
        "What negatives are made of",
        "This is the paper's argument (section 3.1). For the projection λ₃ and λ₄ are constant, 0 and 1. For sampled "
        "and searched negatives they fluctuate from one prediction to the next.",
        [component_table(groups)],
        pictures,
    )
    geometry = Section(
        "Angles, norms and hubs",
        "Hubs are words among the nearest of far more predictions than their share: the skewness of k-occurrence "
        "(Radovanović et al. 2010). “Exact” is what a model would get that predicted every target exactly, “table” "
        "the target vectors among themselves.",
        [hub_table(groups)],
        [
            draw_picture(
                figures,
                "geometry",
                "Cosines of predictions to their targets, and the norms κ of predictions",
                lambda figure: draw_geometry(figure, groups, colour_of),
                (11.0, 3.8),
            )
        ],
    )
    if logged(diagnosed):
        geometry.pictures.append(
            draw_picture(
                figures,
                "course",
                "During training, as the criterion logs it: cosine to the target, norm κ, and how many hinges of a "
                "margin loss are active (first seed)",
                lambda figure: draw_course(figure, diagnosed, labels, colour_of),
                (12.0, 3.8),
            )
        )
    for label, checkpoints in over_training.items():
        geometry.pictures.append(
            draw_picture(
                figures,
                f"geometry-over-training-{len(geometry.pictures)}",
                f"Cosines to the target and norms κ over the training of {label}, darker where more positions are. "
                "For a margin loss the share of active hinges, too",
                partial(draw_geometry_over_training, checkpoints=checkpoints),
                (12.0, 3.8),
            )
        )
    return [predictions, negatives, geometry]


def _over_seeds(values: Iterable[float | None], digits: int) -> str:
    known = [value for value in values if value is not None]
    return spread(known, digits) if known else ""


def similarity_table(groups: Groups, setting: str) -> Table:
    """Table 2 of the paper under one of ``SETTINGS``."""
    first = next(iter(groups.values()))[0][setting]
    accuracies = list(first["accuracy"])
    headings = ["system", *SIMILARITIES.values(), *(f"accuracy@{n}" for n in accuracies), "positions"]
    table = Table(f"Predictions under {SETTINGS[setting]}", headings)
    for label, entries in groups.items():
        found = [entry[setting] for entry in entries]
        cells = [_over_seeds([e[key] for e in found], 3) for key in SIMILARITIES]
        cells += [_over_seeds([e["accuracy"][n] for e in found], 1) for n in accuracies]
        table.add(label, *cells, f"{found[0]['positions']:,}")
    return table


def neighbour_table(runs: Sequence[Run], labels: Mapping[str, str]) -> Table:
    """Neighbours of predictions and their synthetic negatives for chosen words, by each system's first seed."""
    headings = ["target", "system", "wrong", "near the prediction", "near its projection", "near its difference"]
    table = Table("Neighbours of predictions and of their synthetic negatives", headings)
    for system, group in by_system(runs).items():
        for word in _measured(group[0])["checkpoints"][-1]["words"]:
            mean = word["mean_when_wrong"] or word["mean"]
            if mean is None:
                continue
            near = [
                ", ".join(f"{other} {cosine:.2f}" for other, cosine in mean[name][:3])
                for name in ("prediction", "projection", "difference")
            ]
            share = f"{word['wrong']} of {word['positions']}"
            table.add(word["word"], labels.get(system, system), share, *near)
    table.rows.sort(key=lambda row: row[0])
    table.notes.append("Of the mean direction of the wrong predictions; of all where none was wrong.")
    return table


def component_table(groups: Groups) -> Table:
    """λ₃ and λ₄ (mean ± standard deviation over positions) of each source, and how often the hinge is active."""
    table = Table("Components of negatives", ["system", "negative", "λ₃", "λ₄", "hinge active"])
    for label, entries in groups.items():
        for source, name in SOURCES.items():
            found = entries[0]["stability"][source]
            active = found["hinge_active"]
            shown = "" if active is None else f"{100 * active:.1f} %"
            table.add(label, name, *(_mean_and_deviation(found[part]) for part in ("lambda3", "lambda4")), shown)
    table.notes.append(
        "Mean ± standard deviation over positions, first seed. Hinges at the margin that a system was trained with."
    )
    return table


def _mean_and_deviation(found: Mapping[str, Any]) -> str:
    if not found["count"]:
        return ""
    mean = f"{found['mean']:.3f}".replace("-0.000", "0.000").replace("-", "−")
    return f"{mean} ± {found['std']:.3f}"


def hub_table(groups: Groups) -> Table:
    """Skewness of k-occurrence, and the words that occur most among the nearest of predictions."""
    headings = ["system", "skewness", "exact", "table", "never near", "hubs"]
    table = Table("Hubs", headings)
    for label, entries in groups.items():
        hubness = [entry["hubness"] for entry in entries]
        cells = [_over_seeds([h[of]["skewness"] for h in hubness], 1) for of in ("predictions", "targets", "table")]
        never = _over_seeds([100 * h["predictions"]["never"] for h in hubness], 1)
        top = ", ".join(word for word, _ in hubness[0]["predictions"]["hubs"][:6])
        table.add(label, *cells, f"{never} %", top)
    return table


def draw_components(figure: Any, groups: Groups) -> None:
    """λ₃ and λ₄ side by side: a box for each system and source, from the recorded quantiles."""
    panels = figure.subplots(1, 2, sharey=True)
    for axes, part, name in zip(panels, ("lambda3", "lambda4"), ("λ₃", "λ₄"), strict=True):
        boxes, colours = [], []
        for label, entries in groups.items():
            for number, (source, shown) in enumerate(SOURCES.items()):
                found = entries[0]["stability"][source][part]
                if not found["count"]:
                    continue
                q = found["quantiles"]
                ends = {"whislo": q["0.05"], "q1": q["0.25"], "med": q["0.5"], "q3": q["0.75"], "whishi": q["0.95"]}
                boxes.append({**ends, "label": f"{label}: {shown}"})
                colours.append(f"C{number}")
        drawn = axes.bxp(
            boxes,
            orientation="horizontal",
            showfliers=False,
            patch_artist=True,
            widths=0.6,
            manage_ticks=axes is panels[0],  # the other shares them
            medianprops={"color": axes.xaxis.label.get_color()},  # all there is of a box without width
        )
        for patch, colour in zip(drawn["boxes"], colours, strict=True):
            patch.set_facecolor(colour)
            patch.set_edgecolor(colour)
        axes.set_xlim(-1.05, 1.05)
        axes.set_xlabel(name)
        axes.grid(axis="x", alpha=0.3)
    panels[0].invert_yaxis()


def draw_over_training(figure: Any, checkpoints: Sequence[Mapping[str, Any]]) -> None:
    """λ₃ and λ₄ of each source by update, for the checkpoints of one run."""
    ordered = sorted({c["updates"]: c for c in checkpoints}.items())
    panels = figure.subplots(1, 2)
    for axes, part, name in zip(panels, ("lambda3", "lambda4"), ("λ₃", "λ₄"), strict=True):
        for colour, (source, shown) in enumerate(SOURCES.items()):
            points = [(updates, c["stability"][source][part]) for updates, c in ordered]
            points = [(updates, found["quantiles"]) for updates, found in points if found["count"]]
            x = [updates for updates, _ in points]
            axes.plot(x, [q["0.5"] for _, q in points], color=f"C{colour}", label=shown)
            low, high = ([q[end] for _, q in points] for end in ("0.05", "0.95"))
            axes.fill_between(x, low, high, color=f"C{colour}", alpha=0.2, linewidth=0)
        axes.set_xlabel("updates")
        axes.set_ylabel(name)
        axes.grid(alpha=0.3)
    # Below, for lines and bands fill the panels.
    figure.legend(*panels[0].get_legend_handles_labels(), fontsize="small", loc="outside lower center", ncols=4)


def draw_geometry(figure: Any, groups: Groups, colours: Mapping[str, str]) -> None:
    """Histograms of the cosine to the target and of κ, as shares, summed over a system's seeds."""
    panels = figure.subplots(1, 2)
    for axes, name, label in zip(panels, ("cosine", "kappa"), ("cosine to the target", "κ"), strict=True):
        for system, entries in groups.items():
            histograms = [entry["geometry"][name]["histogram"] for entry in entries]
            shape = histograms[0]
            counts = [sum(column) for column in zip(*(h["counts"] for h in histograms), strict=True)]
            total, edges = sum(counts), _edges(shape)
            if shape["scale"] == "log":
                axes.set_xscale("log")
                plain_ticks(axes.xaxis)
            used = [i for i, count in enumerate(counts) if count]
            first, last = used[0], used[-1] + 1
            shares = [count / total for count in counts[first:last]]
            axes.stairs(shares, edges[first : last + 1], color=colours[system], label=system)
        axes.set_xlabel(label)
        axes.set_ylabel("share of positions")
        axes.grid(alpha=0.3)
    panels[0].legend(fontsize="small", loc="upper left")


def _edges(histogram: Mapping[str, Any]) -> list[float]:
    """The ends of its bins, one more than there are bins."""
    low, high, bins = histogram["low"], histogram["high"], len(histogram["counts"])
    if histogram["scale"] == "log":
        return [low * (high / low) ** (i / bins) for i in range(bins + 1)]
    return [low + (high - low) * i / bins for i in range(bins + 1)]


def draw_geometry_over_training(figure: Any, checkpoints: Sequence[Mapping[str, Any]]) -> None:
    """Histograms of the cosine to the target and of κ by update, with a column for each checkpoint of a run. Where its
    loss has a margin, a third panel shows how many hinges of each source are active."""
    ordered = sorted({c["updates"]: c for c in checkpoints}.items())
    updates = [number for number, _ in ordered]
    hinges: dict[str, list[tuple[int, float]]] = {}
    for source in SOURCES:
        active = [(number, c["stability"][source]["hinge_active"]) for number, c in ordered]
        hinges[source] = [point for point in active if point[1] is not None]
    panels = figure.subplots(1, 3 if any(hinges.values()) else 2)
    # Each column reaches from its own number of updates halfway to its neighbours'.
    middles = [(a + b) / 2 for a, b in itertools.pairwise(updates)]
    ends = [2 * updates[0] - middles[0], *middles, 2 * updates[-1] - middles[-1]]
    for axes, name, label in zip(panels, ("cosine", "kappa"), ("cosine to the target", "κ"), strict=False):
        histograms = [c["geometry"][name]["histogram"] for _, c in ordered]
        shares = [[count / (sum(h["counts"]) or 1) for count in h["counts"]] for h in histograms]
        edges = _edges(histograms[0])
        used = [i for i in range(len(edges) - 1) if any(column[i] for column in shares)]
        first, last = used[0], used[-1] + 1
        columns = list(zip(*(column[first:last] for column in shares), strict=True))
        axes.pcolormesh(ends, edges[first : last + 1], columns, cmap="Blues", vmin=0)
        if histograms[0]["scale"] == "log":
            axes.set_yscale("log")
            plain_ticks(axes.yaxis)
        axes.set_ylabel(label)
    if any(hinges.values()):
        for colour, (source, shown) in enumerate(SOURCES.items()):
            if hinges[source]:
                panels[2].plot(*zip(*hinges[source], strict=True), color=f"C{colour}", label=shown)
        panels[2].set_ylabel("share of active hinges")
        panels[2].grid(alpha=0.3)
        figure.legend(*panels[2].get_legend_handles_labels(), fontsize="small", loc="outside lower right", ncols=4)
    for axes in panels:
        axes.set_xlabel("updates")
