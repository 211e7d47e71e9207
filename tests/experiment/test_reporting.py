"""A report of a kind that only this test has: what is on the page, what is left out, and the files beside it."""

from __future__ import annotations

from pathlib import Path

import experiments
import pytest

from fairseq_xl.experiment.reporting import Kind, Material, Report, write_report
from fairseq_xl.experiment.settings import ReportSettings
from fairseq_xl.report.page import Section
from fairseq_xl.report.tables import Table


def lengths(material: Material) -> Report:
    """Of one seed alone."""
    table = Table("Lengths: all/some", ["system", "length"])
    shown = [run for run in material.runs if run.seed == 1]
    for run in shown:
        table.add(material.labels[run.system], str(run.record["length"]))
    table.notes.append(f"The baseline is {material.baseline}.")
    return Report([Section("Lengths", tables=[table])], shown, "not of seed 1", ["Measured by hand."])


KIND = Kind("lengths", {"length": int}, ("samples",), lengths)


@pytest.fixture
def out(tmp_path: Path) -> Path:
    systems = {"a.1": ("a", 1), "a.2": ("a", 2), "b.1": ("b", 1), "c.1": ("c", 1)}
    experiments.write_state(tmp_path, systems, {"a": "first", "b": "second"}, "c", "b")
    for name in ("a.1", "a.2", "b.1"):
        experiments.write_record(tmp_path, name, {"length": 7})
    return tmp_path


def test_the_page_and_its_tables(out, capsys):
    index = write_report(out, ReportSettings(), [KIND])
    assert index == out / "report" / "index.html"
    left_out = "Left out: 2 of 4 runs are not of seed 1: a.2, c.1."
    assert capsys.readouterr().err == f"{left_out}\n"
    text = index.read_text()
    for said in ("<h1>An &lt;experiment&gt;</h1>", left_out, "Measured by hand.", "Reported with python"):
        assert said in text
    tables = sorted((out / "report" / "tables").iterdir())
    assert [path.name for path in tables] == [f"01-lengths-all-some.{suffix}" for suffix in ("csv", "md", "tex")]
    assert tables[0].read_text() == "system,length\nfirst,7\nsecond,7\n"
    assert "The baseline is second." in tables[1].read_text(), "the first of them that has a run"
