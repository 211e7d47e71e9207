"""Alignments as lines of text, and commands that print them."""

from __future__ import annotations

import shlex
import sys

import pytest

from fairseq_xl.corpus.alignment.beads import parse_beads, vecalign
from fairseq_xl.io.errors import InputError


def command(code: str) -> str:
    return f"{shlex.quote(sys.executable)} -c {shlex.quote(code)} {{first}} {{second}}"


def test_vecalign_reads_the_command_output():
    code = "import sys; n = len(open(sys.argv[2]).readlines()); print(f'[0, 1]:[{n - 1}]:0.25\\n[]:[0]:0.0')"
    assert vecalign(command(code), ["a", "b"], ["x\u2028x", "y z"]) == [([0, 1], [1]), ([], [0])]


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("no-such-program {first} {second}", "cannot be run"),
        ("program", "must name"),
        ("'program {first} {second}", "cannot be read"),
        (command("import sys; sys.exit('no embeddings')"), "status 1: no embeddings"),
        (command("print('0-0 1-1')"), "line 1: '0-0 1-1' is no alignment"),
        (command("print('[0]:[7]:0.1')"), "line 7 of 1"),
        (command("print('[0]:[0]:0.1')\nprint('[0]:[]:0.1')"), "in two alignments"),
    ],
)
def test_vecalign_that_does_not_work(line, message):
    with pytest.raises(InputError, match=message):
        vecalign(line, ["a"], ["b"])


def test_gold_lines():
    assert parse_beads(["[6]:[6, 7, 8]", "", "[]:[16]", "[0]:[0]:0.15"], "gold") == [
        ([6], [6, 7, 8]),
        ([], [16]),
        ([0], [0]),
    ]
    with pytest.raises(InputError, match="gold, line 1"):
        parse_beads(["[0, x]:[1]"], "gold")
