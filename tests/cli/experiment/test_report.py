"""``fairseq-xl experiment report``, ``curves`` and ``record`` as a user types them."""

import json
import re
import shutil
from pathlib import Path
from types import SimpleNamespace

import pytest

from fairseq_xl.cli.experiment.report import Curves, Record, label_of
from fairseq_xl.cli.main import main
from fairseq_xl.io.errors import InputError


@pytest.fixture
def run_cli(capsys):
    """As that of all tests, but in this process: a report needs more time to be imported than to be made."""

    def run(*words):
        status = main(list(map(str, words)))
        printed = capsys.readouterr()
        return SimpleNamespace(returncode=status, stdout=printed.out, stderr=printed.err)

    return run


@pytest.fixture
def finished(make_run):
    """Two finished runs and one that is not, with the state of their experiment."""
    make_run("ce.seed1", 30, 0.5)
    make_run("proj.seed1", 35, 0.2)
    systems = {"ce.seed1": ["ce", 1], "proj.seed1": ["proj", 1], "vmf.seed1": ["vmf", 1]}
    stored = {
        "title": "A <title>",
        "labels": {"ce": "softmax", "proj": "projection", "vmf": "vMF"},
        "baselines": ["ce"],
        "systems": systems,
        "cells": {name: {"status": "done"} for name in ("ce.seed1", "proj.seed1")},
    }
    (make_run.out / "experiment.json").write_text(json.dumps(stored))
    return make_run.out


def test_report(run_cli, finished):
    done = run_cli("experiment", "report", finished, "--samples", "100")
    assert done.returncode == 0, done.stderr
    folder = finished / "report"
    assert done.stdout.strip() == str(folder / "index.html")
    text = (folder / "index.html").read_text()
    assert "A &lt;title&gt;" in text
    assert "Left out: 1 of 3 runs are pending: vmf.seed1." in text
    assert "1 of 3 runs are pending" in done.stderr
    assert "projection, seed 1" in text
    names = sorted(path.name for path in (folder / "tables").iterdir())
    stems = ("01-scores-a-title", "02-speed-of-training")
    assert names == [f"{stem}.{suffix}" for stem in stems for suffix in ("csv", "md", "tex")]
    interval = r"\([+−]\d+\.\d to [+−]\d+\.\d; 1/1\)"
    assert re.search(
        rf"\| projection \| 35\.1 \| 35\.5 \| 70\.0 \| \+5\.0 {interval} \| \+10\.0 {interval} \| 1 \| 2 \|",
        (folder / "tables" / "01-scores-a-title.md").read_text(),
    )
    assert {path.suffix for path in (folder / "figures").iterdir()} == {".png", ".pdf"}
    for compared in json.loads((folder / "significance.json").read_text()):
        assert compared["p_sentences"]["1"] < 0.05
    before = {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    state = finished / "experiment.json"
    title = state.read_text()
    state.write_text(title.replace("A <title>", "An earlier <title>"))
    for own in ("03-mine.md", "notes.md"):
        (folder / "tables" / own).write_text("mine")
        before[folder / "tables" / own] = b"mine"
    assert run_cli("experiment", "report", finished, "--samples", "100").returncode == 0
    assert (folder / "tables" / "01-scores-an-earlier-title.md").exists()
    assert not (folder / "tables" / "01-scores-a-title.md").exists()
    state.write_text(title)
    assert run_cli("experiment", "report", finished, "--samples", "100").returncode == 0
    assert before == {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_files_of_the_users_own_in_a_reports_places(run_cli, finished):
    """Neither what was there before the first report nor what was changed after it is written over."""
    command = ("experiment", "report", finished, "--samples", "100")
    names = ("index.html", "tables/01-scores-a-title.md", "figures/speed.png", "significance.json")
    for text in ("before", "after"):
        for name in names:
            own = finished / "report" / name
            own.parent.mkdir(parents=True, exist_ok=True)
            own.write_text(text)
            done = run_cli(*command)
            assert done.returncode == 2
            assert f"error: {own} is not as a report wrote it: move it elsewhere first\n" in done.stderr
            assert own.read_text() == text
            own.unlink()
        assert run_cli(*command).returncode == 0


def test_what_failed_with_new_settings_is_not_reported_by_its_old_scores(run_cli, finished):
    path = finished / "experiment.json"
    stored = json.loads(path.read_text())
    stored["cells"]["proj.seed1"]["status"] = "failed"
    path.write_text(json.dumps(stored))
    done = run_cli("experiment", "report", finished, "--samples", "10")
    assert done.returncode == 0, done.stderr
    assert "Left out: 1 of 3 runs are failed: proj.seed1." in done.stderr
    assert "projection" not in next((finished / "report" / "tables").glob("01-*.md")).read_text()


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--beam", "3"), "translated with 1, 5"),
        (("--compare", "ce", "vmf"), "--compare vmf: no run of it has finished"),
        (("--samples", "-1"), "--samples is -1: give a number from 0"),
    ],
)
def test_report_mistakes(run_cli, finished, arguments, said):
    done = run_cli("experiment", "report", finished, "--samples", "10", *arguments)
    assert done.returncode == 2
    assert said in done.stderr


def test_report_of_nothing(run_cli, finished):
    shutil.rmtree(finished / "runs")
    done = run_cli("experiment", "report", finished)
    assert done.returncode == 2
    assert "has finished yet" in done.stderr
    assert not Path(finished / "report").exists()


def test_report_of_no_experiment(run_cli, tmp_path):
    done = run_cli("experiment", "report", tmp_path)
    assert done.returncode == 2
    assert f"there is no {tmp_path}/experiment.json" in done.stderr


def test_curves(make_run, run_cli, tmp_path):
    logs = [make_run(name, bleu) / "train.log" for name, bleu in (("a", 30), ("b", 31))]
    output = tmp_path / "pictures" / "curves.svg"
    done = run_cli("experiment", "curves", *logs, "--labels", "margin", "von Mises", "-o", output, "--x", "updates")
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == str(output)
    assert output.read_text().startswith("<?xml")


def test_curves_of_the_folder_of_a_run(make_run, run_cli, tmp_path):
    runs = [make_run("a", 30), make_run("b", 31)]
    output = tmp_path / "curves.svg"
    done = run_cli("experiment", "curves", *runs, "-o", output)
    assert done.returncode == 0, done.stderr
    said = output.read_text()
    assert all(f"<!-- {label}, training -->" in said for label in ("a", "b"))
    done = run_cli("experiment", "curves", runs[0].parent, "-o", output)
    assert done.returncode == 2
    assert f"{runs[0].parent} is a folder without a train.log: give the folder of a run, or a log" in done.stderr


def test_default_labels_name_the_run(tmp_path):
    (tmp_path / "vmf").mkdir()
    assert label_of(tmp_path / "vmf" / "train.log") == "vmf"
    assert label_of(tmp_path / "vmf" / "seed2.log") == "seed2"


def test_mistakes_of_curves():
    logs = [Path("a.log"), Path("b.log")]
    with pytest.raises(InputError, match="--labels has 1 entries for 2 logs"):
        Curves(logs, ["one"]).run()
    with pytest.raises(InputError, match=r"must end in \.png, \.pdf, \.svg"):
        Curves(logs, output=Path("curves.jpeg")).run()


def test_what_is_said_about_a_run_has_a_name(tmp_path):
    with pytest.raises(InputError, match="write KEY=VALUE"):
        Record(tmp_path, ["vmf"]).run()
