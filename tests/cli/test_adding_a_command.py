"""A new command is one file and one line: CONTRIBUTING.md shows it, and it is done here."""

from __future__ import annotations

import argparse
from pathlib import Path

import pytest

from fairseq_xl.cli import experiment
from fairseq_xl.cli import main as cli
from fairseq_xl.cli.completion import add_commands

FILE = '''
from dataclasses import dataclass
from pathlib import Path

from fairseq_xl.io.settings import argument, option


@dataclass
class Count:
    """Count the lines of files."""

    files: list[Path] = argument("what to count")
    output: Path = option("file to write", alias="-o")
    times: int = option("count this often", 1, low=1)

    def run(self) -> None:
        lines = sum(len(path.read_text().splitlines()) for path in self.files)
        self.output.write_text(f"{self.times * lines}\\n")
'''
LINE = ("counting_in_a_test:Count", "count lines")


@pytest.fixture(autouse=True)
def _added(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "counting_in_a_test.py").write_text(FILE)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setitem(experiment.COMMANDS, "count", LINE)


def test_it_runs(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("one\ntwo\n")
    words = ["experiment", "count", f"{tmp_path}/a.txt", f"{tmp_path}/a.txt", "-o", f"{tmp_path}/lines", "--times", "2"]
    assert cli.main(words) == 0
    assert (tmp_path / "lines").read_text() == "8\n"


def test_it_is_explained(capsys: pytest.CaptureFixture[str]) -> None:
    for words in (["experiment"], ["experiment", "count"]):
        with pytest.raises(SystemExit):
            cli.main([*words, "--help"])
    shown = capsys.readouterr().out
    assert "count lines" in shown
    assert "Count the lines of files." in shown
    assert "count this often (default: 1)" in shown


def test_its_values_are_checked(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["experiment", "count", "a", "-o", "b", "--times", "0"]) == 2
    assert capsys.readouterr().err == "error: --times is 0: give a number from 1\n"


def test_it_is_completed() -> None:
    parser = argparse.ArgumentParser(prog="fairseq-xl")
    add_commands(parser, {"experiment": cli.COMMANDS["experiment"]}, "files")
    parsed = vars(parser.parse_args(["experiment", "count", "a", "--output", "b"]))
    assert parsed["output"] == Path("b")
