"""``fairseq-xl experiment report`` of classes and of pairs of sentences."""

from __future__ import annotations

import csv
import re
from pathlib import Path

import experiments
import pytest

from fairseq_xl.cli.main import main

pytest.importorskip("matplotlib")


def report(out: Path, *options: str) -> str:
    assert main(["experiment", "report", str(out), "--samples", "20", *options]) == 0
    return (out / "report" / "index.html").read_text()


def rows(out: Path, number: int) -> dict[str, dict[str, str]]:
    """The table of that number, by its first column."""
    (path,) = (out / "report" / "tables").glob(f"{number:02}-*.csv")
    with path.open() as stream:
        return {next(iter(row.values())): row for row in csv.DictReader(stream)}


def test_classes(tmp_path, capsys):
    experiments.classes(tmp_path)
    text = report(tmp_path)
    assert capsys.readouterr().out == f"{tmp_path}/report/index.html\n"
    assert "An &lt;experiment&gt;" in text
    assert re.findall(r"<h2[^>]*>(.*)</h2>", text) == ["Scores", "Learning curve", "Classes"]
    scores = rows(tmp_path, 1)
    assert list(scores) == ["Siamese, 100", "Siamese, 200", "TF-IDF, SVM"]
    best = scores["Siamese, 200"]
    assert (best["runs"], best["accuracy"], best["p"]) == ("2", "88.5", "< 0.001")
    assert scores["TF-IDF, SVM"]["p"] == "", "the others are tested against the baseline"
    assert "<details><summary>Each class: 6 rows</summary>" in text
    names = {path.stem for path in (tmp_path / "report" / "figures").iterdir()}
    assert names == {"macro-f1", "learning-curve", "confusion-1", "confusion-2", "confusion-3"}


def test_pairs(tmp_path):
    pytest.importorskip("sklearn")
    experiments.pairs(tmp_path)
    text = report(tmp_path, "--paper")
    assert re.findall(r"<h2[^>]*>(.*)</h2>", text) == ["Scores", "Differences", "Calibration"]
    scores = rows(tmp_path, 1)
    assert list(scores)[:4] == ["constant prior", "ESIM", "ESIM, no transfer", "TF-IDF"]
    assert scores["ESIM"]["runs"] == "2"
    assert scores["ESIM"]["paper's log loss"] == scores["ESIM, no transfer"]["paper's log loss"] == "0.3114"
    assert (scores["siamese_conv"]["runs"], scores["TF-IDF"]["paper's log loss"]) == ("0", "")
    assert "esim" not in scores
    assert "Log loss, less that of TF-IDF" in text
    assert rows(tmp_path, 2)["ESIM"]["difference"].startswith("−")


def test_options_of_other_kinds_are_refused(tmp_path, capsys):
    experiments.classes(tmp_path)
    for option in (["--beam", "3"], ["--paper"], ["--compare", "a", "b"], ["--scores", "test"]):
        assert main(["experiment", "report", str(tmp_path), *option]) == 2
        said = f"error: {option[0]} means nothing for classes of sentences, which these runs are: leave it out\n"
        assert capsys.readouterr().err.endswith(said)
    assert not (tmp_path / "report").exists()


def test_several_kinds_or_none(tmp_path, capsys):
    experiments.write_state(tmp_path, {"a": ("a", 1), "b": ("b", 1)}, {"a": "a", "b": "b"})
    experiments.write_record(tmp_path, "a", experiments.pair_record("a", 1, 0.8))
    other = experiments.write_record(tmp_path, "b", {"scores": {}, "source": "de", "target": "en"})
    assert main(["experiment", "report", str(tmp_path)]) == 2
    assert "are of several kinds, pairs of sentences (a) and translations (b): report" in capsys.readouterr().err
    other.write_text('{"version": 1}')
    assert main(["experiment", "report", str(tmp_path)]) == 2
    assert f"{other} is of none of the kinds that are reported, which are translations, " in capsys.readouterr().err
    (tmp_path / "runs" / "a" / "record.json").write_text('{"ids": [], "probability": [], "group": []}')
    other.unlink()
    assert main(["experiment", "report", str(tmp_path)]) == 2
    assert "is no record of pairs" in capsys.readouterr().err
