"""What is reported of translations: scores and their differences, speed, diagnostics, sentences side by side."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from fairseq_xl.experiment.reporting import Kind, Material, Report
from fairseq_xl.io.atomic import write_json
from fairseq_xl.io.errors import InputError
from fairseq_xl.report.diagnosis.sections import sections as diagnosis
from fairseq_xl.report.figures import draw_picture
from fairseq_xl.report.page import Section, Translations, side_by_side
from fairseq_xl.report.runs import OWN_TEST, TRANSLATION, Run, by_system, translations
from fairseq_xl.report.scores import METRICS, comparisons, score_table
from fairseq_xl.report.significance import KeptTests
from fairseq_xl.report.speed import draw_speed, measured, quality_over_time, speed_table


def report(material: Material) -> Report:
    """Scores, speed, diagnostics where runs have some, and translations side by side.

    Raises:
        InputError: an unknown system, beam or set of scores.
    """
    runs, settings = translations(material.runs, material.settings.scores), material.settings
    beams = sorted({beam for run in runs for beam in run.beams})
    if settings.beam not in beams:
        raise InputError(f"--beam {settings.beam}: the runs were translated with {', '.join(map(str, beams))}")
    sections = [
        _scores(runs, material),
        _speed(runs, material.labels, material.folder),
        *diagnosis(runs, material.labels, material.folder),
        _translations(runs, material),
    ]
    devices = "; ".join(sorted({run.record["device"] for run in runs}))
    return Report(sections, runs, f"not scored on {runs[0].scored}", [f"Trained on {devices}."])


KIND = Kind("translations", TRANSLATION, ("beam", "scores", "test", "samples", "compare"), report)


def _scores(runs: Sequence[Run], material: Material) -> Section:
    settings, tests = material.settings, KeptTests(material.kept)
    how = (settings.test, settings.samples, sys.stderr.isatty())
    compared = [
        found
        for metric in METRICS
        for found in comparisons(runs, material.baselines, settings.beam, tests, metric, *how)
    ]
    write_json(material.folder / "significance.json", compared, indent=1)
    on = "" if runs[0].scored == OWN_TEST else f", on {runs[0].scored}"
    table = score_table(runs, material.labels, compared, settings.beam, f"Scores: {material.title}{on}")
    return Section("Scores", tables=[table])


def _speed(runs: Sequence[Run], labels: Mapping[str, str], folder: Path) -> Section:
    caption = "Training sentences a second"
    measure = measured(runs)
    if measure:
        caption += "; quality against minutes of training and against epochs (mean and range over seeds)"
        without = {labels[run.system]: None for run in runs if not quality_over_time(run, measure)}
        if without:
            caption += f"; not measured over training: {', '.join(without)}"
    if measure != "bleu":
        caption += ". BLEU over training is there when the experiment's `fairseq-train` has --eval-bleu"
    picture = draw_picture(
        folder / "figures", "speed", caption, lambda figure: draw_speed(figure, runs, labels), (13.0, 4.0)
    )
    text = "Throughput and convergence are different claims: a fast epoch may be worth less."
    return Section("Speed", text, [speed_table(runs, labels)], [picture])


def _translations(runs: Sequence[Run], material: Material) -> Section:
    groups, labels, settings = by_system(runs), material.labels, material.settings
    wanted = list(settings.compare)
    for system in (name for pair in wanted for name in pair):
        if system not in groups:
            raise InputError(f"--compare {system}: no run of it has finished; there are {', '.join(groups)}")
    baseline = next((name for name in material.baselines if name in groups), None)
    if not wanted and baseline and len(groups) > 1:
        others = [name for name in groups if name not in material.baselines] or [n for n in groups if n != baseline]
        wanted = [(baseline, max(others, key=lambda name: max(r.score(settings.beam) for r in groups[name])))]
    shown = []
    for one, two in wanted:
        first, second = groups[one][0], groups[two][0]
        pairs = side_by_side(
            first.sources(), first.references(), first.hypotheses(settings.beam), second.hypotheses(settings.beam)
        )
        names = (f"{labels[one]}, seed {first.seed}", f"{labels[two]}, seed {second.seed}")
        shown.append(Translations(names, pairs))
    text = (
        "Sentences whose sentence chrF2 differs most come first; the numbers are chrF2 of the two systems. Words "
        f"that only one of them has are marked. Beam {settings.beam}."
    )
    return Section("Translations side by side", text, translations=shown)
