"""Dataclasses as commands."""

from __future__ import annotations

import argparse
from dataclasses import dataclass
from pathlib import Path

import pytest

from fairseq_xl.cli.parsing import parse
from fairseq_xl.io.errors import InputError
from fairseq_xl.io.settings import argument, option


@dataclass
class Example:
    """Do one thing
    well."""

    source: Path = argument("what to read")
    more: list[Path] = argument("what else to read", [])
    size: int = option("how many", 5, alias="-s", low=1, high=10)
    scale: float = option("by how much: 100 % is all", 1.0)
    share: float = option("of the whole", 0.5, low=0, high=1)
    kind: str = option("which", "a", choices=("a", "b"))
    both: tuple[Path, Path] | None = option("two files", None)
    words: list[str] = option("some", ["one"])
    pairs: list[tuple[str, str]] = option("two words", [])
    quiet: bool = option("say nothing", False)
    check: bool = option("look twice", True)
    left: str | None = option("the left one", None, exclusive="side!")
    right: str | None = option("the right one", None, exclusive="side!")
    shift: float = option("by how much it moves", 0.0)

    def run(self) -> None:
        """Not called here."""


def parsed(*words: str) -> Example:
    return parse(argparse.ArgumentParser(prog="example", allow_abbrev=False), Example, words)


def test_defaults() -> None:
    assert parsed("in", "--left", "x") == Example(Path("in"), left="x")


def test_values_have_the_types_of_their_fields() -> None:
    words = "in a b -s 3 --scale 0.5 --share 1 --words x y --kind b --words z --both x y --quiet --no-check --right r"
    found = parsed(*words.split())
    more, both = [Path("a"), Path("b")], [Path("x"), Path("y")]
    expected = Example(Path("in"), more, 3, 0.5, 1.0, "b", both=both, quiet=True, check=False, right="r")
    expected.words = ["x", "y", "z"]
    assert found == expected


def test_a_negative_number_with_an_exponent_is_a_value() -> None:
    assert parsed("in", "--left", "x", "--shift", "-1e-1").shift == -0.1


def test_what_is_given_twice_is_there_twice() -> None:
    words = "in --left x --words a b --words c --pairs a b --pairs c d"
    found = parsed(*words.split())
    assert found.words == ["a", "b", "c"]
    assert found.pairs == [["a", "b"], ["c", "d"]]


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["-s", "0"], "--size is 0: give a number from 1 to 10"),
        (["-s", "11"], "--size is 11: give a number from 1 to 10"),
        (["--share", "-0.1"], "--share is -0.1: give a number from 0 to 1"),
        (["--scale", "nan"], "--scale is nan: give a finite number"),
    ],
)
def test_what_is_out_of_bounds_is_refused(words: list[str], sentence: str) -> None:
    with pytest.raises(InputError, match=sentence):
        parsed("in", "--left", "x", *words)


@pytest.mark.parametrize(
    "words", [[], ["in"], ["in", "--left", "x", "--right", "y"], ["in", "--left", "x", "--si", "3"]]
)
def test_argparse_refuses_the_rest(words: list[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        parsed(*words)
    assert ended.value.code == 2


def test_help_says_what_is_what(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        parsed("--help")
    shown = " ".join(capsys.readouterr().out.split())
    assert "Do one thing well." in shown
    assert "--size SIZE, -s SIZE how many (default: 5)" in shown
    assert "by how much: 100 % is all (default: 1.0)" in shown
    assert "by how much it moves (default: 0.0)" in shown
    assert "look twice (default: yes)" in shown
