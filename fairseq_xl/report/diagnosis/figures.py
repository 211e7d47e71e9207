"""What negatives are made of (section 3.1 of the syn-margin paper), angles and norms, at the end and over training."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from typing import Any

from fairseq_xl.report.diagnosis.measurements import SOURCES, Groups
from fairseq_xl.report.figures import plain_ticks


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
