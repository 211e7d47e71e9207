"""The commands of the pipeline."""

from __future__ import annotations

import subprocess
import sys

import pytest

from fairseq_xl.cli.corpus import COMMANDS
from fairseq_xl.cli.corpus.steps import STEPS
from fairseq_xl.cli.main import main
from fairseq_xl.corpus import pipeline
from fairseq_xl.corpus.pairs import data_card
from fairseq_xl.corpus.project import Project

EXTRAS = ["scrapy", "twisted", "w3lib", "lxml", "inscriptis", "regex", "gensim", "tomotopy", "faiss", "sklearn"]


def test_steps_are_those_of_the_pipeline():
    assert list(STEPS) == list(pipeline.STEPS)
    assert [*data_card.STEPS, "export"] == list(pipeline.STEPS), "the card tells of every step before its own"


def test_help_needs_no_extra():
    code = f"""
import sys
for name in {EXTRAS}:
    sys.modules[name] = None
from fairseq_xl.cli.main import main
for name in {list(COMMANDS)}:
    try:
        main(["corpus", name, "--help"])
    except SystemExit as end:
        assert not end.code, name
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("usage:") == len(COMMANDS)


def test_init(tmp_path, capsys):
    words = ["corpus", "init", "--project", str(tmp_path / "p"), "--languages", "en", "fr"]
    assert main([*words, "--base", "https://example.org/a"]) == 0
    assert "edit it, then `fairseq-xl corpus run --project" in capsys.readouterr().err
    assert Project.open(tmp_path / "p").languages == ("en", "fr")


def test_settings_come_from_the_command_line(tmp_path, monkeypatch):
    (tmp_path / "corpus.yaml").write_text("languages: [en, fr]")
    asked = []
    monkeypatch.setattr(pipeline, "run_step", lambda project, name, again: asked.append((project, name, again)))
    given = ["--set", "align.distance=0.5", "align.ratio=2", "--set", "topics.seed=3"]  # twice counts twice
    assert main(["corpus", "align", "--project", str(tmp_path), *given]) == 0
    assert main(["corpus", "topics", "--project", str(tmp_path), "--again"]) == 0
    sections = {"align": {"distance": 0.5, "ratio": 2}, "topics": {"seed": 3}}
    opened = Project(tmp_path, ("en", "fr"), sections), Project(tmp_path, ("en", "fr"), {})
    assert asked == [(opened[0], "align", False), (opened[1], "topics", True)]


def test_run_takes_a_range(tmp_path, monkeypatch, capsys):
    (tmp_path / "corpus.yaml").write_text("languages: [en, fr]")
    asked = []
    monkeypatch.setattr(pipeline, "run_step", lambda project, name, again: asked.append(name))
    assert main(["corpus", "run", "--project", str(tmp_path), "--first", "translate", "--last", "align"]) == 0
    assert main(["corpus", "run", "--project", str(tmp_path)]) == 0
    assert asked == ["translate", "align", *STEPS]
    with pytest.raises(SystemExit):
        main(["corpus", "run", "--project", str(tmp_path), "--first", "init"])
    assert "invalid choice" in capsys.readouterr().err


@pytest.mark.parametrize(
    "words",
    [
        "negatives --project p",
        "run --project p",
        "paraphrases fra.tsv --encoder my.pt --output out",
    ],
)
def test_the_package_of_an_encoder_is_imported(words, tmp_path, capsys):
    package = tmp_path / "negatives_of_mine"
    package.mkdir()
    (package / "__init__.py").write_text("raise ValueError('here')\n")
    assert main(["corpus", *words.split(), "--user-dir", str(package)]) == 2
    assert "negatives_of_mine/__init__.py, line 1 (ValueError: here)" in capsys.readouterr().err
