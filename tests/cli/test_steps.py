"""Commands with steps: one module is imported, and its own steps work."""

import argparse
import sys

import pytest

from fairseq_xl.cli.steps import add_steps, run_step

TABLE = {"one": ("made_up_one", "does one thing"), "two": ("made_up_two", "does another")}
MODULE = """
def configure(parser):
    parser.add_argument("--size", type=int, default=1)
    inner = parser.add_subparsers(dest="inner")
    inner.add_parser("deep").add_argument("word")

def run(args):
    return (args.size, args.inner, getattr(args, "word", None))
"""


@pytest.fixture
def parser(tmp_path, monkeypatch):
    (tmp_path / "made_up_one.py").write_text(MODULE)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "made_up_one", raising=False)
    made = argparse.ArgumentParser(prog="fairseq-xl some")
    add_steps(made, TABLE)
    return made


def test_the_chosen_step_runs_and_no_other_is_imported(parser):
    assert run_step(parser.parse_args(["one", "--size", "3", "deep", "w"])) == (3, "deep", "w")
    assert "made_up_two" not in sys.modules


def test_help_lists_the_steps_and_imports_none(parser, capsys):
    with pytest.raises(SystemExit):
        parser.parse_args(["--help"])
    assert "does another" in capsys.readouterr().out
    assert "made_up_one" not in sys.modules


@pytest.mark.parametrize("words", [[], ["three"], ["one", "--colour", "red"]])
def test_mistakes_end_with_status_2(parser, words):
    with pytest.raises(SystemExit) as ended:
        parser.parse_args(words)
    assert ended.value.code == 2
