"""What training logs show over time, from made-up ones."""

import json
import struct
import sys
from pathlib import Path

import pytest
from matplotlib.figure import Figure

from fairseq_xl.io.errors import InputError
from fairseq_xl.report.curves import draw_course, logged, write_curves
from fairseq_xl.report.runs import load_runs, translations
from fairseq_xl.report.training_log import Record, TrainingLog


@pytest.fixture
def runs(make_run):
    for name, shown in (("a.1", {"cosine": "0.5", "hinge": "0.9"}), ("a.2", {"cosine": "0.6"}), ("b.1", {})):
        log = make_run(name).joinpath("train.log")
        lines = []
        for line in log.read_text().splitlines():
            if '"ups"' in line:
                line = json.dumps({**json.loads(line), **shown})
            lines.append(line)
        log.write_text("\n".join(lines) + "\n")
    return translations(load_runs(make_run.out, {"a.1": ("a", 1), "a.2": ("a", 2), "b.1": ("b", 1)}, {}))


def test_of_a_mix_the_end_hinge_is_drawn_and_the_start_hinge_until_there_is_one(runs):
    path = runs[0].folder / "train.log"
    before, after = path.read_text().split('"epoch": 2', 1)
    both = after.replace('"hinge"', '"start_hinge": "0.3", "end_hinge"', 1)
    path.write_text(f'{before.replace("hinge", "start_hinge")}"epoch": 2{both}')
    figure = Figure()
    draw_course(figure, runs[:1], {}, {"a": "C3"})
    assert figure.axes[1].lines[0].get_xydata().tolist() == [[5, 0.9], [15, 0.9]]
    path.write_text(path.read_text().replace('"end_hinge": "0.9"', '"end_hinge": "0.7"'))
    del runs[0].__dict__["log"]
    figure = Figure()
    draw_course(figure, runs[:1], {}, {"a": "C3"})
    assert figure.axes[1].lines[0].get_xydata().tolist() == [[5, 0.9], [15, 0.7]]


@pytest.mark.parametrize(
    ("shown", "drawn"),
    [({"auxiliary_hinge": "0.4"}, 0.4), ({"auxiliary_hinge": "0.4", "main_hinge": "0.6"}, 0.6)],
)
def test_of_a_sum_the_hinge_of_the_main_loss_is_drawn_or_else_that_of_the_auxiliary_one(runs, shown, drawn):
    path = runs[0].folder / "train.log"
    path.write_text(path.read_text().replace('"hinge": "0.9"', json.dumps(shown).strip("{}")))
    assert logged(runs[:1]) == ["cosine", "hinge"]
    figure = Figure()
    draw_course(figure, runs[:1], {}, {"a": "C3"})
    assert figure.axes[1].lines[0].get_xydata().tolist() == [[5, drawn], [15, drawn]]


def test_only_what_was_logged_is_drawn(runs):
    assert logged(runs) == ["cosine", "hinge"]
    assert logged(runs[2:]) == []
    figure = Figure()
    draw_course(figure, runs, {"a": "A"}, {"A": "C3", "b": "C0"})
    cosine, hinge = figure.axes
    (line,) = cosine.lines  # the first seed's alone; b logged none
    assert line.get_label() == "A"
    assert line.get_color() == "C3"
    assert line.get_xydata().tolist() == [[5, 0.5], [15, 0.5]]
    assert hinge.lines[0].get_xydata().tolist() == [[5, 0.9], [15, 0.9]]
    assert hinge.get_ylabel() == "share of active hinges"


def training_log(criterion: str, epochs: int, **measured: float) -> TrainingLog:
    """Ten updates an epoch; accuracy and what is measured grow from epoch to epoch, losses fall."""
    records = []
    for e in range(1, epochs + 1):
        values = {"loss": 3 / e, "accuracy": 12.0 * e, **{name: float(value * e) for name, value in measured.items()}}
        records += [Record("train", e, e, 10 * e, {"loss": 4 / e}), Record("valid", e, e, 10 * e, values)]
    return TrainingLog(Path("train.log"), records, criterion)


def test_the_figure_has_a_panel_for_each_criterion_and_measure(tmp_path, monkeypatch):
    drawn = {}

    def spy(figure, *args, **kwargs):
        for axes in figure.axes:
            if axes.get_visible():
                drawn[axes.get_ylabel()] = {line.get_label(): line.get_xydata().tolist() for line in axes.get_lines()}
                assert axes.get_xlabel() == "updates"
                assert axes.get_legend() is not None
        save(figure, *args, **kwargs)

    save = Figure.savefig
    monkeypatch.setattr(Figure, "savefig", spy)
    output = tmp_path / "pictures" / "curves.png"
    logs = [("margin", training_log("syn_margin_proj", 5, bleu=10)), ("von Mises", training_log("vmf", 4))]
    write_curves(logs, output, "updates")
    assert list(drawn) == ["loss (syn_margin_proj)", "loss (vmf)", "validation accuracy@1 (%)", "validation BLEU"]
    assert drawn["loss (vmf)"] == {
        "von Mises, training": [[10.0 * e, 4 / e] for e in range(1, 5)],
        "von Mises, validation": [[10.0 * e, 3 / e] for e in range(1, 5)],
    }
    assert set(drawn["validation accuracy@1 (%)"]) == {"margin", "von Mises"}
    assert drawn["validation BLEU"] == {"margin": [[10.0 * e, 10.0 * e] for e in range(1, 6)]}
    png = output.read_bytes()
    assert png[:8] == b"\x89PNG\r\n\x1a\n"
    width, height = struct.unpack(">II", png[16:24])
    assert width > 800
    assert height > 600
    assert [path.name for path in output.parent.iterdir()] == ["curves.png"]


def test_without_matplotlib_the_extra_is_named(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(InputError, match=r"bash scripts/setup.sh --extras report"):
        write_curves([("a", training_log("vmf", 2))], tmp_path / "curves.png")
