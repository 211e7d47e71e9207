"""The project folder, its settings and its stamps."""

from __future__ import annotations

import argparse
import dataclasses
from dataclasses import dataclass, field

import pytest

from fairseq_xl.cli.corpus.init import configure, run
from fairseq_xl.cli.corpus.options import add_project, run_once
from fairseq_xl.cli.corpus.sections import SECTIONS, settings_of, template
from fairseq_xl.corpus.documents.project import Project
from fairseq_xl.io.errors import InputError


@dataclass
class Settings:
    number: int = field(default=3, metadata={"help": "a number"})
    words: list[str] = field(default_factory=list, metadata={"help": "some words"})


def project(folder, text, *changes):
    folder.mkdir(exist_ok=True)
    (folder / "corpus.yaml").write_text(text)
    return Project.open(folder, changes)


def test_settings_of_file_and_command(tmp_path):
    opened = project(tmp_path, "languages: [en, fr]\nstep:\n  number: 4\n  words: [a]\nempty:\n", "step.number=5")
    assert opened.languages == ("en", "fr")
    assert opened.settings("step", Settings) == Settings(5, ["a"])
    assert opened.settings("empty", Settings) == opened.settings("absent", Settings) == Settings()
    assert opened.path("x") == tmp_path / "x"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("languages: [en]", "languages must be two codes"),
        ("languages: [en, en]", "languages must be two codes"),
        ("step: {}", "languages must be two codes"),
        ("- a", "must be a mapping"),
        ("languages: [en, fr\n", "cannot be read"),
        ("languages: [en, fr]\nstep: 3", "step must be a section"),
    ],
)
def test_a_file_that_cannot_be(tmp_path, text, message):
    with pytest.raises(InputError, match=message):
        project(tmp_path, text)


def test_a_file_makes_no_objects(tmp_path):
    victim = tmp_path / "victim"
    with pytest.raises(InputError, match=r"python/object/apply:os\.mkdir"):
        project(tmp_path, f"languages: [en, fr]\nstep: !!python/object/apply:os.mkdir ['{victim}']")
    assert not victim.exists()


@pytest.mark.parametrize("change", ["step.unknown=3", "step.number=many"])
def test_a_setting_that_cannot_be(tmp_path, change):
    opened = project(tmp_path, "languages: [en, fr]", change)
    with pytest.raises(InputError, match="settings are number, words"):
        opened.settings("step", Settings)


def test_no_project(tmp_path):
    with pytest.raises(InputError, match="corpus init"):
        Project.open(tmp_path)


def test_a_step_runs_once_for_its_settings_and_inputs(tmp_path, capsys):
    project(tmp_path, "languages: [en, fr]")
    source = tmp_path / "input"
    source.write_text("a")
    runs = []

    def step(*changes, again=False):
        args = argparse.Namespace(project=tmp_path, set=list(changes), again=again)
        run_once(args, "step", Settings, lambda p, s: [source], lambda p, s: runs.append(s) or {"n": 7})
        return len(runs)

    assert step() == 1
    assert "n 7" in capsys.readouterr().err
    assert step() == 1
    assert "done before" in capsys.readouterr().err
    assert step("step.number=9") == 2
    source.write_text("b")
    assert step("step.number=9") == 3
    assert step("step.number=9") == 3
    assert step("step.number=9", again=True) == 4
    assert Project.open(tmp_path).report("step") == {"n": 7}
    with pytest.raises(InputError, match="run `fairseq-xl corpus other` first"):
        Project.open(tmp_path).report("other")


def init(folder, *arguments):
    parser = argparse.ArgumentParser()
    configure(parser)
    run(parser.parse_args(["--project", str(folder), *arguments]))


@pytest.mark.parametrize("step", sorted(SECTIONS))
def test_template_is_what_the_defaults_are(tmp_path, step):
    kind = settings_of(step)
    assert all(setting.metadata.get("help") for setting in dataclasses.fields(kind))
    lines = list(template(step, {}))
    settings = tuple(f"  #{setting.name}:" for setting in dataclasses.fields(kind))
    text = ["languages: [en, fr]"]
    # Every setting is uncommented, so that the values shown are read.
    text += [line.replace("#", "", 1) if line.startswith(settings) else line for line in lines]
    assert project(tmp_path, "\n".join(text)).settings(step, kind) == kind()


def test_init_writes_a_project(tmp_path):
    init(tmp_path / "p", "--languages", "en", "fr", "--base", "https://example.org/a")
    opened = Project.open(tmp_path / "p")
    assert opened.settings("crawl", settings_of("crawl")).base == ["https://example.org/a"]
    with pytest.raises(InputError, match="is there already"):
        init(tmp_path / "p", "--languages", "en", "fr", "--base", "https://example.org/a")


@pytest.mark.parametrize(
    ("languages", "base", "message"),
    [(["en", "en"], "http://x.org", "two codes"), (["en", "fr"], "nowhere", "neither an address")],
)
def test_init_refuses(tmp_path, languages, base, message):
    with pytest.raises(InputError, match=message):
        init(tmp_path / "p", "--languages", *languages, "--base", base)
    assert not (tmp_path / "p/corpus.yaml").exists()


def test_set_given_twice_counts_twice():
    parser = argparse.ArgumentParser()
    add_project(parser)
    words = ["--project", "p", "--set", "crawl.delay=1", "align.ratio=2", "--set", "topics.seed=3"]
    assert parser.parse_args(words).set == ["crawl.delay=1", "align.ratio=2", "topics.seed=3"]
