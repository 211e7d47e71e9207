"""Scripts that complete commands in a shell."""

from __future__ import annotations

import argparse
import subprocess
from collections.abc import Iterator

import pytest

from fairseq_xl.cli import main as cli
from fairseq_xl.cli.completion import add_commands

FILES = "files"


@pytest.fixture(scope="module")
def tree() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="fairseq-xl")
    add_commands(parser, cli.COMMANDS, FILES)
    return parser


def below(parser: argparse.ArgumentParser) -> Iterator[argparse.ArgumentParser]:
    yield parser
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            for child in action.choices.values():
                yield from below(child)


@pytest.mark.parametrize("shell", ["bash", "zsh", "tcsh"])
def test_a_script_names_commands_and_options(shell: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["completion", shell]) == 0
    script = capsys.readouterr().out
    for word in ("experiment", "curves", "doctor", "user-dir", "launcher"):
        assert word in script


def test_the_script_is_bash(capsys: pytest.CaptureFixture[str]) -> None:
    cli.main(["completion", "bash"])
    script = capsys.readouterr().out
    done = subprocess.run(["bash", "-n"], input=script, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    words = "COMP_WORDS=(fairseq-xl experiment cur); COMP_CWORD=2; _shtab_fairseq_xl; echo ${COMPREPLY[@]}"
    done = subprocess.run(["bash"], input=f"{script}\n{words}\n", capture_output=True, text=True, check=False)
    assert done.stdout.split() == ["curves"], done.stderr


def test_paths_complete_with_files(tree: argparse.ArgumentParser) -> None:
    (curves,) = (parser for parser in below(tree) if parser.prog == "fairseq-xl experiment curves")
    completed = {action.dest for action in curves._actions if vars(action).get("complete") == FILES}
    assert completed == {"logs", "output"}


def test_every_option_has_help(tree: argparse.ArgumentParser) -> None:
    for parser in below(tree):
        without = [action.dest for action in parser._actions if action.option_strings and not action.help]
        assert without == [], parser.prog
