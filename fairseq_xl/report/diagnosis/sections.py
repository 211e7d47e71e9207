"""Table 2 and section 3.1 of the syn-margin paper, angles and hubs, as ``fairseq-xl translate diagnose`` measured."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from fairseq_xl.report.diagnosis.course import draw_course, logged
from fairseq_xl.report.diagnosis.figures import (
    draw_components,
    draw_geometry,
    draw_geometry_over_training,
    draw_over_training,
)
from fairseq_xl.report.diagnosis.measurements import SETTINGS, Groups, measured
from fairseq_xl.report.diagnosis.tables import component_table, hub_table, neighbour_table, similarity_table
from fairseq_xl.report.figures import draw_picture
from fairseq_xl.report.page import Section
from fairseq_xl.report.runs import Run, by_system, colours


def sections(runs: Sequence[Run], labels: Mapping[str, str], folder: Path) -> list[Section]:
    """What there is to show of the runs that were diagnosed; nothing where none was.

    Args:
        runs: all of a report, diagnosed or not.
        labels: what each system is called.
        folder: of the report, whose folder ``figures`` gets the pictures.
    """
    diagnosed = [run for run in runs if run.diagnostics]
    if not diagnosed:
        return []
    # The last checkpoint of a report is the one that translates.
    groups: Groups = {
        labels.get(system, system): [measured(run)["checkpoints"][-1] for run in group]
        for system, group in by_system(diagnosed).items()
    }
    over_training = {
        labels.get(run.system, run.system): measured(run)["checkpoints"]
        for run in reversed(diagnosed)
        if len(measured(run)["checkpoints"]) > 2
    }
    figures = folder / "figures"
    return [
        _predictions(diagnosed, labels, groups),
        _negatives(groups, over_training, figures),
        _geometry(diagnosed, labels, colours(runs, labels), groups, over_training, figures),
    ]


def _predictions(runs: Sequence[Run], labels: Mapping[str, str], groups: Groups) -> Section:
    section = Section(
        "Predictions and targets",
        f"Measured on {measured(runs[0])['split']}. With teacher forcing each prediction follows the reference's "
        "words. In its own decoding it follows the model's words, and is paired with the reference's word at the same "
        "position.",
        [similarity_table(groups, setting) for setting in SETTINGS],
    )
    words = neighbour_table(runs, labels)
    if words.rows:
        section.tables.append(words)
    return section


def _negatives(groups: Groups, over_training: Mapping[str, Sequence[Mapping[str, Any]]], figures: Path) -> Section:
    section = Section(
        "What negatives are made of",
        "This is the paper's argument (section 3.1). For the projection λ₃ and λ₄ are constant, 0 and 1. For sampled "
        "and searched negatives they fluctuate from one prediction to the next.",
        [component_table(groups)],
    )
    section.pictures.append(
        draw_picture(
            figures,
            "negatives",
            "The components λ₃ and λ₄ of a negative for four sources of negatives: 5th to 95th percentile, quartiles "
            "and median. λ₃ is along the target, and λ₄ along the part of the prediction that is orthogonal to it",
            lambda figure: draw_components(figure, groups),
            (11.0, 1.4 + 0.9 * len(groups)),
        )
    )
    for label, checkpoints in over_training.items():
        section.pictures.append(
            draw_picture(
                figures,
                f"negatives-over-training-{len(section.pictures)}",
                f"The same over the training of {label}: median and 5th to 95th percentile",
                partial(draw_over_training, checkpoints=checkpoints),
            )
        )
    return section


def _geometry(
    runs: Sequence[Run],
    labels: Mapping[str, str],
    colour_of: Mapping[str, str],
    groups: Groups,
    over_training: Mapping[str, Sequence[Mapping[str, Any]]],
    figures: Path,
) -> Section:
    section = Section(
        "Angles, norms and hubs",
        "Hubs are words among the nearest of far more predictions than their share: the skewness of k-occurrence "
        "(Radovanović et al. 2010). “Exact” is what a model would get that predicted every target exactly, “table” "
        "the target vectors among themselves.",
        [hub_table(groups)],
    )
    section.pictures.append(
        draw_picture(
            figures,
            "geometry",
            "Cosines of predictions to their targets, and the norms κ of predictions",
            lambda figure: draw_geometry(figure, groups, colour_of),
            (11.0, 3.8),
        )
    )
    if logged(runs):
        section.pictures.append(
            draw_picture(
                figures,
                "course",
                "During training, as the criterion logs it: cosine to the target, norm κ, and how many hinges of a "
                "margin loss are active (first seed)",
                lambda figure: draw_course(figure, runs, labels, colour_of),
                (12.0, 3.8),
            )
        )
    for label, checkpoints in over_training.items():
        section.pictures.append(
            draw_picture(
                figures,
                f"geometry-over-training-{len(section.pictures)}",
                f"Cosines to the target and norms κ over the training of {label}, darker where more positions are. "
                "For a margin loss the share of active hinges, too",
                partial(draw_geometry_over_training, checkpoints=checkpoints),
                (12.0, 3.8),
            )
        )
    return section
