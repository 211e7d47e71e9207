"""Table 2 of the syn-margin paper, neighbours of negatives, their components, and hubs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from fairseq_xl.report.diagnosis.measurements import SETTINGS, SIMILARITIES, SOURCES, Groups, measured
from fairseq_xl.report.runs import Run, by_system
from fairseq_xl.report.scores import spread
from fairseq_xl.report.tables import Table


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
        for word in measured(group[0])["checkpoints"][-1]["words"]:
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
