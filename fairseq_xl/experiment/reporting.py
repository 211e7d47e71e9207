"""A paper's tables and figures from what an experiment's runs left."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from pathlib import Path

from fairseq_xl.experiment.settings import ReportSettings
from fairseq_xl.experiment.state import DONE, State
from fairseq_xl.io.atomic import atomic_text, real_path
from fairseq_xl.io.errors import InputError
from fairseq_xl.io.folders import own_files
from fairseq_xl.report import diagnosis
from fairseq_xl.report.figures import draw_picture
from fairseq_xl.report.page import Section, Translations, page, side_by_side
from fairseq_xl.report.record import versions
from fairseq_xl.report.runs import OWN_TEST, Run, by_system, load_runs
from fairseq_xl.report.scores import METRICS, comparisons, score_table
from fairseq_xl.report.significance import KeptTests
from fairseq_xl.report.speed import draw_speed, measured, quality_over_time, speed_table
from fairseq_xl.report.tables import Table


def write_report(output: Path, settings: ReportSettings) -> Path:
    """Write ``OUTPUT/report`` and return its page; what it leaves out is said on stderr. Files of others stay.

    Raises:
        InputError: no experiment there, nothing finished, an unknown system or beam; a file of another in the way.
    """
    state = State.of(output)
    peaks = {name: cell.peak_MiB for name, cell in state.cells.items()}
    # A run whose cell is not done may have been left by other settings than those its label speaks of now.
    done = {name: system for name, system in state.systems.items() if state[name].status == DONE}
    runs = load_runs(real_path(output), done, peaks, settings.scores)
    beams = sorted({beam for run in runs for beam in run.beams})
    if settings.beam not in beams:
        raise InputError(f"--beam {settings.beam}: the runs were translated with {', '.join(map(str, beams))}")
    left_out = _left_out(state, {run.folder.name for run in runs}, runs[0].scored)
    for line in left_out:
        print(line, file=sys.stderr)
    labels = {**{run.system: run.system for run in runs}, **state.labels}
    index = output / "report" / "index.html"
    with own_files(index.parent, "a report") as folder:
        sections = [
            _scores(runs, state, labels, settings, folder, KeptTests(index.with_name("tests.json"))),
            _speed(runs, labels, folder),
            *diagnosis.sections(runs, labels, folder),
            _translations(runs, state, labels, settings),
        ]
        tables = [table for section in sections for table in section.tables]
        for number, table in enumerate(tables, 1):
            write_table(table, folder / "tables", number)
        signature = "; ".join(f"{name} {version}" for name, version in versions().items())
        devices = "; ".join(sorted({run.record["device"] for run in runs}))
        with atomic_text(folder / index.name) as stream:
            stream.write(page(state.title, sections, [*left_out, f"Trained on {devices}. Reported with {signature}."]))
    return index


def _left_out(state: State, reported: set[str], scored: str) -> list[str]:
    """A sentence for each status that runs which the report lacks have."""
    lacking: dict[str, list[str]] = {}
    for name in state.systems:
        if name not in reported:
            status = state[name].status
            lacking.setdefault(f"not scored on {scored}" if status == DONE else status, []).append(name)
    return [
        f"Left out: {len(names)} of {len(state.systems)} runs are {status}: {', '.join(names)}."
        for status, names in lacking.items()
    ]


def write_table(table: Table, folder: Path, number: int) -> list[Path]:
    """One table as three files, ``NUMBER-title.md``, ``.tex`` and ``.csv``, which are returned."""
    words = "".join(letter if letter.isalnum() else " " for letter in table.title.lower()).split()
    stem = f"{number:02}-{'-'.join(words)[:60]}"
    texts = {folder / f"{stem}.md": table.markdown(), folder / f"{stem}.tex": table.latex()}
    texts[folder / f"{stem}.csv"] = table.csv()
    for path, text in texts.items():
        with atomic_text(path) as stream:
            stream.write(text)
    return list(texts)


def _scores(
    runs: Sequence[Run],
    state: State,
    labels: dict[str, str],
    settings: ReportSettings,
    folder: Path,
    tests: KeptTests,
) -> Section:
    how = (settings.test, settings.samples, sys.stderr.isatty())
    compared = [
        found for metric in METRICS for found in comparisons(runs, state.baselines, settings.beam, tests, metric, *how)
    ]
    with atomic_text(folder / "significance.json") as stream:
        json.dump(compared, stream, indent=1)
        stream.write("\n")
    on = "" if runs[0].scored == OWN_TEST else f", on {runs[0].scored}"
    table = score_table(runs, labels, compared, settings.beam, f"Scores: {state.title}{on}")
    return Section("Scores", tables=[table])


def _speed(runs: Sequence[Run], labels: dict[str, str], folder: Path) -> Section:
    caption = "Training sentences a second"
    measure = measured(runs)
    if measure:
        caption += "; quality against minutes of training and against epochs (mean and range over seeds)"
        without = {labels[run.system]: None for run in runs if not quality_over_time(run, measure)}
        if without:
            caption += f"; not measured over training: {', '.join(without)}"
    if measure != "bleu":
        caption += ". BLEU over training is there when the experiment's `train` has --eval-bleu"
    picture = draw_picture(
        folder / "figures", "speed", caption, lambda figure: draw_speed(figure, runs, labels), (13.0, 4.0)
    )
    text = "Throughput and convergence are different claims: a fast epoch may be worth less."
    return Section("Speed", text, [speed_table(runs, labels)], [picture])


def _translations(runs: Sequence[Run], state: State, labels: dict[str, str], settings: ReportSettings) -> Section:
    groups = by_system(runs)
    wanted = list(settings.compare)
    for system in (name for pair in wanted for name in pair):
        if system not in groups:
            raise InputError(f"--compare {system}: no run of it has finished; there are {', '.join(groups)}")
    baseline = next((name for name in state.baselines if name in groups), None)
    if not wanted and baseline and len(groups) > 1:
        others = [name for name in groups if name not in state.baselines] or [n for n in groups if n != baseline]
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
