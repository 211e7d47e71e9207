"""What criteria log over a training, from made-up logs."""

import json

import pytest
from matplotlib.figure import Figure

from fairseq_xl.report.diagnosis.course import draw_course, logged
from fairseq_xl.report.runs import load_runs, translations


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
