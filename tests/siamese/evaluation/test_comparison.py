"""Records side by side, and the commands that write and read them."""

from __future__ import annotations

import json
import sys
from types import SimpleNamespace

import numpy as np
import pytest
from siamese_records import GOLD, record, write

from fairseq_xl.cli.main import main
from fairseq_xl.io.errors import InputError
from fairseq_xl.siamese.evaluation import comparison
from fairseq_xl.siamese.evaluation.gain import gains


def test_the_table():
    systems = comparison.group([record("Siamese", 10), record("SVM", 40), record("Siamese", 20)])
    assert comparison.best(systems) == "Siamese"
    scores = comparison.tables(comparison.compare(systems, "Siamese", 200))["scores"]
    siamese, svm = scores.rows
    assert siamese[:3] == ["Siamese", "2", "85.0"]
    assert siamese[5] == "85.0"
    low, high = map(float, siamese[6].split(" to "))
    assert low < 85 < high
    assert siamese[-1] == ""
    assert svm[-1] == "< 0.001"
    assert "te-en, 2 classes, 100 test sentences" in scores.title


def test_mcnemar_takes_the_median_run():
    runs = [record("a", wrong) for wrong in (30, 10, 20)]
    assert comparison.median_run(runs) is runs[2]
    assert comparison.median_run(runs[:2]) is runs[0]


def test_a_learning_curve():
    made = [
        record(f"Siamese {n}", wrong, line="Siamese", low_resource_size=n)
        for n, wrong in ((200, 10), (100, 30), (100, 20))
    ]
    points = comparison.curve(comparison.group([*made, record("SVM", 5)]))["Siamese"]
    assert [(size, round(mean), round(spread)) for size, mean, spread in points] == [(100, 75, 7), (200, 90, 0)]


def learnt(name, wrong, **sizes):
    return record(name, wrong, training_sentences=sizes)


def test_a_learning_curve_ends_at_the_full_size_and_has_baselines():
    made = [
        record("Siamese, 100 sentences", 30, line="Siamese", low_resource_size=100),
        learnt("Siamese", 10, low=400, high=900),
        learnt("SVM", 40, low=100),
        learnt("SVM", 20, low=400),
        learnt("MNB-H", 20, low=400),
    ]
    lines = comparison.curve(comparison.group(made))
    assert {line: [(size, round(mean)) for size, mean, _ in points] for line, points in lines.items()} == {
        "Siamese": [(100, 70), (400, 90)],
        "SVM": [(100, 60), (400, 80)],
    }


def test_runs_that_learnt_from_other_numbers_of_sentences_are_other_systems():
    made = [learnt("SVM", 1, low=6), learnt("Siamese", 1, low=6), *(learnt("SVM", n, low=400) for n in (2, 3))]
    systems = comparison.group(made)
    assert {name: len(runs) for name, runs in systems.items()} == {
        "SVM, 6 low-resource": 1,
        "Siamese": 1,
        "SVM, 400 low-resource": 2,
    }
    with pytest.raises(InputError, match="records of 'SVM' in te learnt from different numbers of sentences"):
        gains(made, "SVM", "Siamese", 10)


def scores_of(records):
    return comparison.tables(comparison.compare(comparison.group(records), "SVM", 10))["scores"]


def test_the_spread_over_draws_of_references():
    made = [record(f"Siamese {n}", 10, macro_f1_of_each_draw=draws) for n, draws in enumerate(([0.8, 0.9], [0.9] * 5))]
    scores = scores_of([*made, record("SVM", 40)])
    column = scores.headings.index("± over draws")
    assert [row[column] for row in scores.rows] == ["7.1", "0.0", ""]
    assert "all draws are alike" in scores.notes[-1]
    without = scores_of([record("SVM", 40)])
    assert len(without.notes) == 1
    assert "± over draws" not in without.headings


def test_files_where_folders_are_wanted_and_the_reverse(tmp_path, capsys):
    path = tmp_path / "a.json"
    path.write_text(json.dumps(record("Siamese", 1)))
    (tmp_path / "file").touch()
    assert main(["classify", "report", str(path), "-o", str(tmp_path / "file")]) == 2
    assert f"cannot write {tmp_path / 'file'}: " in capsys.readouterr().err
    assert main(["classify", "gain", str(path), "--over", "Siamese", "--system", "Siamese", "-o", str(tmp_path)]) == 2
    assert "it is a directory" in capsys.readouterr().err
    assert main(["classify", "gain", str(tmp_path)]) == 2
    assert f"cannot read the record of predictions {tmp_path}" in capsys.readouterr().err
    unread = "--more-text is for asv and dsc-t, and the baseline is svm: leave it out"
    for more, said in (
        (["-o", str(tmp_path)], "it is a directory"),
        (["-o", "x", "--seed", "-1"], "--seed is -1"),
        (["-o", "x", "--more-text", "y"], unread),
    ):
        assert main(["classify", "baseline", "svm", "nowhere", *more]) == 2
        assert said in capsys.readouterr().err


def test_other_test_sets_are_refused():
    other = record("SVM", 1)
    other["gold"] = GOLD[::-1]
    with pytest.raises(InputError, match="are of different test sets"):
        comparison.group([record("Siamese", 1), other])
    with pytest.raises(InputError, match="are of different test sets"):
        comparison.group([record("Siamese", 1), record("SVM", 1) | {"split": "valid"}])


def test_sizes_along_the_curve_are_plain_numbers():
    figure = pytest.importorskip("matplotlib.figure").Figure()
    comparison._draw_curve(figure, {"Siamese": [(100, 28.0, 1.0), (400, 28.0, 0.5), (3615, 30.0, 1.0)]})
    figure.draw_without_rendering()
    labels = [label.get_text() for label in figure.axes[0].get_xticklabels()]
    assert {"100", "500", "2000"} <= set(labels)
    assert not any("$" in label for label in labels)


def test_the_report(tmp_path, capsys):
    pytest.importorskip("matplotlib")
    made = [record("Siamese", 10, line="Siamese", low_resource_size=100), record("SVM", 40)]
    paths = write(tmp_path, made)
    assert main(["classify", "report", *paths, "-o", str(tmp_path / "out"), "--samples", "50"]) == 0
    names = {path.name for path in (tmp_path / "out").iterdir()}
    assert {"scores.md", "scores.tex", "classes.csv", "confusion-1.png", "confusion-2.pdf"} <= names
    assert {"learning-curve.png", "macro-f1.png"} <= names
    assert "| Siamese | 1 | 90.0" in capsys.readouterr().out
    assert main(["classify", "report", *paths, "-o", str(tmp_path / "out"), "--system", "x"]) == 2
    (tmp_path / "0.json").write_text("{}")
    assert main(["classify", "report", paths[0], "-o", str(tmp_path / "out")]) == 2
    assert "is no record of predictions" in capsys.readouterr().err


class LengthModel:
    """Stands for a sentence-transformers model."""

    def __init__(self, name):
        self.name = name

    def encode(self, texts):
        return np.array([[len(text), 1.0] for text in texts])


def test_prepare_statistics_and_a_baseline(labelled, tmp_path, capsys, monkeypatch):
    pytest.importorskip("sklearn")
    out = tmp_path / "data"
    sources = [
        "--low-resource",
        f"{labelled}/te.tsv",
        "--high-resource",
        f"{labelled}/en.tsv",
        "--languages",
        "te",
        "en",
    ]
    prepare = ["classify", "prepare", "-o", str(out), *sources]
    assert main([*prepare, "--ngrams", "3", "2"]) == 0
    assert "train 64" in capsys.readouterr().err
    assert main(["classify", "statistics", str(out)]) == 0
    shown = capsys.readouterr().out
    assert "| en | train | 200 |" in shown
    assert "| te | 50.0 | 50.0 |" in shown
    assert main(["classify", "baseline", "mnb-h", str(out), "-o", str(tmp_path / "r.json")]) == 0
    found = json.loads((tmp_path / "r.json").read_text())
    assert found["macro_f1"] == 1
    assert found["training_sentences"] == {"low": 64}
    (tmp_path / "more").write_text("good film\nbad film\n" * 9)
    asv = ["classify", "baseline", "asv", str(out), "-o", str(tmp_path / "r.json"), "--more-text"]
    assert main([*asv, str(tmp_path / "more")]) == 0
    assert json.loads((tmp_path / "r.json").read_text())["name"] == "ASV, more text"
    monkeypatch.setitem(sys.modules, "sentence_transformers", SimpleNamespace(SentenceTransformer=LengthModel))
    st = ["classify", "baseline", "st", str(out), "--model", "models/small", "-o", str(tmp_path / "r.json")]
    assert main(st) == 0
    assert json.loads((tmp_path / "r.json").read_text())["name"] == "sentence-transformers: small"
    assert main([*prepare, "--ngrams", "2", "3"]) == 2
    assert "the longest first" in capsys.readouterr().err
    assert main([*prepare, "--test-share", "1"]) == 2


def test_help_lists_the_steps_and_a_steps_options(capsys):
    for words, said in ((["--help"], "baseline"), (["prepare", "--help"], "--shuffle-high-resource")):
        with pytest.raises(SystemExit) as ended:
            main(["classify", *words])
        assert ended.value.code == 0
        assert said in capsys.readouterr().out


def test_the_spread_over_runs_is_that_of_a_sample():
    compared = comparison.compare(comparison.group([record("a", 10), record("a", 20)]), "a", 10)
    table = comparison.tables(compared)["scores"]
    assert table.rows[0][table.headings.index("± over runs")] == "7.1"
