"""What a tag and the hosted CI rest on: one version, one list of Pythons, the checks that everybody runs."""

from __future__ import annotations

import re
from pathlib import Path

import yaml
from doc_pages import PAGES, blocks

import fairseq_xl

ROOT = Path(__file__).resolve().parent.parent


def read(name: str) -> dict:
    return yaml.safe_load((ROOT / name).read_text(encoding="utf-8"))


def test_the_workflow_runs_every_check_on_every_python(project):
    (job,) = read(".github/workflows/tests.yml")["jobs"].values()
    declared = [re.fullmatch(r"Programming Language :: Python :: ([\d.]+)", line) for line in project["classifiers"]]
    assert job["strategy"]["matrix"]["python"] == [found[1] for found in declared if found]
    assert job["steps"][-1]["run"] == "bash scripts/test.sh"


def test_an_image_is_built_by_the_first_command_of_the_readme():
    first = blocks(PAGES[0])[0].text.split("#")[0].strip()
    built = [line for line in (ROOT / "Dockerfile").read_text().splitlines() if line.startswith("RUN ")]
    assert built == [f"RUN {first}"]


def test_the_citations_are_complete():
    cited, readme = read("CITATION.cff"), (ROOT / "README.md").read_text(encoding="utf-8")
    assert cited["version"] == fairseq_xl.__version__
    titles = [one["title"] for one in cited["references"]]
    assert len(titles) == len(set(titles)) == 6
    for one in cited["references"]:
        assert one["year"] in (2018, 2019, 2020)
        # A task's notebook, which was handed out at the workshop alone, has none.
        assert "url" in one or "AnalytiCup" in one["conference"]["name"]
        assert one.get("url", "") in readme, "the page names another"
        assert one["conference"]["name"]
        assert all(author["family-names"] and author["given-names"] for author in one["authors"]), one["title"]


def test_the_tests_environment_has_what_the_examples_and_curves_need():
    extras = re.findall(r"--extras ([\w,]+)", (ROOT / "scripts" / "test.sh").read_text())[0]
    assert {"examples", "tensorboard"} <= set(extras.split(","))
