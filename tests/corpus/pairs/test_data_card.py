"""The data card: what the hub reads of it, and counts of every step."""

from __future__ import annotations

import dataclasses

import pytest
import yaml

from fairseq_xl.corpus.pairs.data_card import card
from fairseq_xl.corpus.pairs.pair import SPLITS, Pair
from fairseq_xl.corpus.project import Project

from .conftest import make, site

ROW = Pair(0, "Summer", "L'été", 1, "p0", "p0", "http://e.example/0", "", 2, None, None, "test")


def test_card(tmp_path):
    make(tmp_path, site(7), "export.mask=true", "export.licence=cc-by-4.0")
    folder = tmp_path / "export"
    card = (folder / "README.md").read_text()
    head = yaml.safe_load(card.split("---\n")[1])
    assert head["license"] == "cc-by-4.0"
    assert [one["split"] for one in head["configs"][0]["data_files"]] == list(SPLITS)
    assert all((folder / one["path"]).is_file() for one in head["configs"][0]["data_files"])
    project = Project.open(tmp_path)
    report = project.report("negatives")
    assert f"positives: {report['positives']}" in card
    assert "- crawl: not a step of this project" in card
    accuracy = project.report("export")["shallow baseline, logistic regression"]
    assert f"logistic regression: {accuracy:.3f}" in card
    assert "| e.example |" in card


@pytest.mark.parametrize(("rows", "size"), [(1, "n<1K"), (999, "n<1K"), (1000, "1K<n<10K")])
def test_what_is_not_stated_or_not_done_is_said(tmp_path, rows, size):
    project = Project(tmp_path, ("en", "fr"), {})
    text = card(project, [dataclasses.replace(ROW, id=k) for k in range(rows)], "C", "", False, {}, {})
    head = yaml.safe_load(text.split("---\n")[1])
    assert (head["license"], head["size_categories"], head["language"]) == ("unknown", [size], ["en", "fr"])
    assert "No licence was stated" in text
    assert "telephone numbers are as on the pages" in text
    assert "Shallow baseline" not in text
    assert f"| test | {rows} | {rows} | 0 | 1 | 1 |" in text
    assert f"| local files | {rows} |" in text
