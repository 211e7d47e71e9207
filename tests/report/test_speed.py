"""Figure 2 from made-up runs."""

import pytest
from matplotlib.figure import Figure

from fairseq_xl.report.runs import load_runs, translations
from fairseq_xl.report.speed import draw_speed, measured, quality_over_time, sentences_per_second, speed_table


@pytest.fixture
def runs(make_run):
    make_run("a.1", 30, seed=1)
    make_run("a.2", 32, seed=2)
    make_run("b.1", 20, measure="bleu")
    systems = {"a.1": ("a", 1), "a.2": ("a", 2), "b.1": ("b", 1)}
    return translations(load_runs(make_run.out, systems, {"a.1": 500.0, "a.2": 600.0}))


def test_values(runs):
    assert sentences_per_second(runs[0]) == 120
    assert quality_over_time(runs[0], "accuracy") == [(1, 1.5, 31), (2, 3.0, 32)]
    assert quality_over_time(runs[0], "bleu") == []
    assert measured(runs) == "accuracy"
    assert measured(runs[2:]) == "bleu"


def test_a_validation_within_an_epoch_stands_where_it_was(runs):
    path = runs[0].folder / "train.log"
    path.write_text(path.read_text().replace('"valid_num_updates": 20', '"valid_num_updates": 15'))
    assert quality_over_time(runs[0], "accuracy") == [(1, 1.5, 31), (1.5, 2.25, 32)]


def test_a_log_without_rates(runs):
    path = runs[0].folder / "train.log"
    path.write_text("".join(line + "\n" for line in path.read_text().splitlines() if '"ups"' not in line))
    assert sentences_per_second(runs[0]) is None
    assert measured(runs[:1]) == "accuracy"
    assert speed_table(runs, {}).rows[0][1] == "120", "of the seed that says it"
    assert speed_table(runs[:1], {}).rows[0][1] == ""
    figure = Figure()
    draw_speed(figure, runs[:1], {})
    assert [text.get_text() for text in figure.axes[0].texts] == ["not logged"]


def test_a_training_too_short_for_lines_within_an_epoch(runs):
    path = runs[0].folder / "train.log"
    lines = [line for line in path.read_text().splitlines() if '"ups"' not in line]
    text = "\n".join(lines) + "\n"
    path.write_text(text.replace('"train_loss": "1"', '"train_loss": "1", "train_ups": "3", "train_bsz": "10"'))
    assert sentences_per_second(runs[0]) == 30


def test_table(runs):
    table = speed_table(runs, {"a": "A"})
    assert table.rows == [
        ["A", "120 ± 0", "1.5 ± 0.0", "2", "1,000,000", "600"],
        ["b", "120", "1.5", "2", "1,000,000", ""],
    ]
    assert table.notes[1].endswith("On cpu: a processor.")


def test_a_softmax_before_counts_into_the_time(runs):
    runs[1].record["targets_run"] = {"training_seconds": 120.0}
    assert quality_over_time(runs[1], "accuracy") == [(1, 3.5, 33), (2, 5.0, 34)]
    table = speed_table(runs, {})
    assert table.headings[-1] == "targets, min"
    assert [row[-1] for row in table.rows] == ["2.0", ""]
    assert table.notes[-1].startswith("Targets: of the softmax")


def test_gpu_memory(runs):
    log = runs[0].folder / "train.log"
    env = "INFO | fairseq.utils | rank   0: capabilities =  9.0  ; total memory = 79.097 GB ; name = X\n"
    first, second = '"epoch": 1, "num_updates": 5, ', '"epoch": 2, "num_updates": 15, '
    text = log.read_text()
    assert first in text
    assert second in text
    text = text.replace(first, first + '"gb_free": "77.1", ').replace(second, second + '"gb_free": "76.4", ')
    log.write_text(env + text)
    table = speed_table(runs, {"a": "A"})
    assert table.headings[-1] == "GPU, GiB"
    assert [row[-1] for row in table.rows] == ["2.7", ""], "the most, and nothing for what had no GPU"
    assert "of the updates that were logged" in table.notes[2]


def test_figure(runs):
    figure = Figure()
    draw_speed(figure, runs, {"a": "A"})
    bars, minutes, epochs = figure.axes
    assert [label.get_text() for label in bars.get_yticklabels()] == ["A", "b"]
    (line,) = minutes.lines
    assert line.get_label() == "A"
    assert line.get_xydata().tolist() == [[1.5, 32], [3, 33]], "means over seeds"
    assert epochs.lines[0].get_xydata().tolist() == [[1, 32], [2, 33]]


def test_figure_without_validation(runs):
    for run in runs:
        path = run.folder / "train.log"
        kept = [line for line in path.read_text().splitlines() if "valid_" not in line]
        path.write_text("\n".join(kept) + "\n")
    figure = Figure()
    draw_speed(figure, runs, {})
    assert len(figure.axes) == 1
