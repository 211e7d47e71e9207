"""Data at a terminal cannot command it."""

from __future__ import annotations

import io
import sys

import pytest

from fairseq_xl.cli import main as cli
from fairseq_xl.io.errors import EscapingTerminal, escape_controls


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("\x1b]0;title\x07", r"\x1b]0;title\x07"),
        ("\x9b2J", r"\x9b2J"),
        ("a\u202eb", r"a\u202eb"),
        ("tab\tline\r\n", "tab\tline\r\n"),
        ("नमस्ते, čau, 你好 🙂 👨\u200d👩", "नमस्ते, čau, 你好 🙂 👨\u200d👩"),
    ],
)
def test_commands_are_spelled_out_and_letters_stay(text, shown):
    assert escape_controls(text) == shown


def test_a_wrapped_terminal_is_still_one():
    terminal = Terminal()
    wrapped = EscapingTerminal(terminal)
    print("a\x1b[2Jb", file=wrapped)
    wrapped.writelines(["c\x07\n"])
    assert terminal.getvalue() == "a\\x1b[2Jb\nc\\x07\n"
    assert wrapped.isatty()


@pytest.mark.parametrize(("stream", "shown"), [(Terminal, "dog\\x1b[2J"), (io.StringIO, "dog\x1b[2J")])
def test_output_of_commands_is_inert_at_a_terminal_and_itself_in_a_pipe(stream, shown, tmp_path, monkeypatch):
    (tmp_path / "a.vec").write_text("2 2\ndog\x1b[2J 1 0\ncat 0 1\n")
    monkeypatch.setattr(sys, "stdout", stream())
    output = sys.stdout
    assert cli.main(["vectors", "neighbours", "--vectors", str(tmp_path / "a.vec"), "cat"]) == 0
    assert shown in output.getvalue()


def test_messages_are_inert(capsys):
    assert cli.main(["vec\x1b[2Jtors"]) == 2
    assert "\x1b" not in capsys.readouterr().err
