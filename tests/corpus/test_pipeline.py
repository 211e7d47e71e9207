"""The steps in order, and the file of their settings."""

from __future__ import annotations

import dataclasses

import pytest

from fairseq_xl.corpus import pipeline
from fairseq_xl.corpus.pipeline import STEPS, create_project, run_step, run_steps, section, step
from fairseq_xl.corpus.project import Project, Step
from fairseq_xl.io.errors import InputError


@dataclasses.dataclass
class Settings:
    """None."""


@pytest.fixture
def project(tmp_path):
    (tmp_path / "corpus.yaml").write_text("languages: [en, fr]")
    return Project.open(tmp_path)


def test_a_step_says_what_it_counted(project, monkeypatch, capsys):
    forgotten = []
    counts = {"n": 7, "list": [1], "share": 0.5}
    only = Step(Settings, lambda p, s: [], [], lambda p, s: counts, forgotten.append)
    monkeypatch.setattr(pipeline, "step", lambda name: only)
    run_step(project, "crawl")
    run_step(project, "crawl")
    assert forgotten == []
    run_step(project, "crawl", again=True)
    assert forgotten == [project]
    lines = ["crawl: n 7, share 0.5", "crawl: done before", "crawl: n 7, share 0.5"]
    assert capsys.readouterr().err.splitlines() == lines


def test_steps_run_in_order(project, monkeypatch):
    names = []
    monkeypatch.setattr(pipeline, "run_step", lambda project, name, again: names.append(name))
    run_steps(project, "extract", "align")
    assert names == ["extract", "translate", "align"]
    with pytest.raises(InputError, match="--last crawl comes before --first align: the order is crawl extract"):
        run_steps(project, "align", "crawl")


@pytest.mark.parametrize("name", STEPS)
def test_a_section_is_what_the_defaults_are(tmp_path, name):
    kind = step(name).settings
    assert all(setting.metadata.get("help") for setting in dataclasses.fields(kind))
    lines = list(section(name, {}))
    settings = tuple(f"  #{setting.name}:" for setting in dataclasses.fields(kind))
    text = ["languages: [en, fr]"]
    # Every setting is uncommented, so that the values shown are read.
    text += [line.replace("#", "", 1) if line.startswith(settings) else line for line in lines]
    (tmp_path / "corpus.yaml").write_text("\n".join(text))
    assert Project.open(tmp_path).settings(name, kind) == kind()


def test_a_new_project(tmp_path):
    assert create_project(tmp_path / "p", ["en", "fr"], ["https://example.org/a"]) == tmp_path / "p" / "corpus.yaml"
    opened = Project.open(tmp_path / "p")
    assert opened.settings("crawl", step("crawl").settings).base == ["https://example.org/a"]
    with pytest.raises(InputError, match="is there already"):
        create_project(tmp_path / "p", ["en", "fr"], ["https://example.org/a"])


@pytest.mark.parametrize(
    ("languages", "base", "message"),
    [
        (["en", "en"], "http://x.org", "--languages must be two codes"),
        (["en", "{0.__class__}"], "http://x.org", "--languages must be two codes"),
        (["en", "../x"], "http://x.org", "--languages must be two codes"),
        (["en", "fr"], "nowhere", "neither an address"),
    ],
)
def test_a_project_that_cannot_be(tmp_path, languages, base, message):
    with pytest.raises(InputError, match=message):
        create_project(tmp_path / "p", languages, [base])
    assert list(tmp_path.iterdir()) == []


def test_norwegian_is_a_language(tmp_path):
    create_project(tmp_path / "p", ["en", "no"], ["http://x.org"])
    assert Project.open(tmp_path / "p").languages == ("en", "no")
