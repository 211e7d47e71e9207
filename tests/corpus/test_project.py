"""The project folder, its settings and its steps."""

from __future__ import annotations

from dataclasses import dataclass

import pytest

from fairseq_xl.corpus.project import Project, Step
from fairseq_xl.io.errors import InputError
from fairseq_xl.io.settings import option


@dataclass
class Settings:
    number: int = option("a number", 3, low=0)
    words: list[str] = option("some words", [], choices=("a", "b"))


def project(folder, text, *changes):
    folder.mkdir(exist_ok=True)
    (folder / "corpus.yaml").write_text(text)
    return Project.open(folder, changes)


def test_settings_of_file_and_command(tmp_path):
    opened = project(tmp_path, "languages: [en, fr]\ntopics:\n  number: 4\n  words: [a]\nalign:\n", "topics.number=5")
    assert opened.languages == ("en", "fr")
    assert opened.settings("topics", Settings) == Settings(5, ["a"])
    assert opened.settings("align", Settings) == opened.settings("export", Settings) == Settings()
    assert opened.path("x") == tmp_path / "x"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("languages: [en]", "languages must be two codes"),
        ("languages: [en, en]", "languages must be two codes"),
        ("topics: {}", "languages must be two codes"),
        ("languages: [en, {a: 1}]", "languages must be two codes"),
        ("languages: [en, no]", "languages must be two codes"),
        ("languages: [en, ../../x]", "languages must be two codes"),
        ("languages: 5", "languages must be two codes"),
        ("- a", "must be a mapping"),
        ("5", "must be a mapping"),
        ("languages: [en, fr]\ntopics: ${languages}", "asks for more than"),
        ("languages: [en, fr\n", "cannot be read"),
        ("languages: [en, fr]\ntopics: 3", "topics must be a section"),
        (
            "languages: [en, fr]\nnegativs: {}",
            "there is no step negativs, but crawl, extract, translate, align, topics",
        ),
    ],
)
def test_a_file_that_cannot_be(tmp_path, text, message):
    with pytest.raises(InputError, match=message):
        project(tmp_path, text)


def test_a_file_makes_no_objects(tmp_path):
    victim = tmp_path / "victim"
    with pytest.raises(InputError, match=r"python/object/apply:os\.mkdir"):
        project(tmp_path, f"languages: [en, fr]\ntopics: !!python/object/apply:os.mkdir ['{victim}']")
    assert not victim.exists()


@pytest.mark.parametrize("change", ["topics.unknown=3", "topics.number=many"])
def test_a_setting_that_cannot_be(tmp_path, change):
    opened = project(tmp_path, "languages: [en, fr]", change)
    with pytest.raises(InputError, match="settings are number, words"):
        opened.settings("topics", Settings)


@pytest.mark.parametrize("change", ["[", "'", "", "step", "=3", "step..number=3", "a b=3"])
def test_a_change_that_is_none(tmp_path, change):
    with pytest.raises(InputError, match=r"^--set .*: write STEP\.SETTING=VALUE"):
        project(tmp_path, "languages: [en, fr]", change)


def test_no_project(tmp_path):
    with pytest.raises(InputError, match="corpus init"):
        Project.open(tmp_path)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ("topics.number=-1", "topics.number is -1: give a number from 0"),
        ("topics.words=[c]", "topics.words is one of a, b"),
    ],
)
def test_a_value_that_its_setting_does_not_take(tmp_path, change, message):
    with pytest.raises(InputError, match=message):
        project(tmp_path, "languages: [en, fr]", change).settings("topics", Settings)


def test_a_step_runs_once_for_its_settings_and_inputs(tmp_path):
    source, output = tmp_path / "input", tmp_path / "output"
    source.write_text("a")
    runs = []

    def work(_, settings):
        output.write_text("b")
        runs.append(settings)
        return {"n": 7}

    step = Step(Settings, lambda project, settings: [project.folder / "input"], ["output"], work)

    def done(*changes):
        counts, before = project(tmp_path, "languages: [en, fr]", *changes).run_once("topics", step)
        assert counts == {"n": 7}
        return before

    assert [done(), done(), done("topics.number=9"), done("topics.number=9")] == [False, True, False, True]
    source.write_text("b")
    assert [done("topics.number=9"), done("topics.number=9")] == [False, True]
    output.unlink()
    assert not done("topics.number=9")
    assert runs == [Settings(), *[Settings(9)] * 3]
    opened = Project.open(tmp_path)
    assert (opened.report("topics"), opened.report("other")) == ({"n": 7}, {})
