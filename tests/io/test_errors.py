"""A user's mistake ends a process with one sentence, any other exception keeps its traceback; data at a terminal
cannot command it."""

from __future__ import annotations

import io
import re
import subprocess
import sys
from pathlib import Path

import pytest

from fairseq_xl.cli import main as cli
from fairseq_xl.io.errors import EscapingTerminal, InputError, escape_controls, out_of_memory

ROOT = Path(__file__).resolve().parents[2]
PRELUDE = """
import sys
from fairseq_xl.io.errors import InputError, show_input_errors_without_traceback
show_input_errors_without_traceback()
show_input_errors_without_traceback()
"""


def run(code: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-c", PRELUDE + code], cwd=ROOT, capture_output=True, text=True, check=False)


def test_a_library_caller_catches_it_as_a_value_error() -> None:
    with pytest.raises(ValueError, match="299 numbers"):
        raise InputError("line 3 of words.vec has 299 numbers instead of 300")


def test_the_sentence_alone_reaches_the_terminal_with_status_2() -> None:
    done = run('raise InputError("words.vec does not exist")')
    assert done.returncode == 2
    assert done.stdout == ""
    assert done.stderr == "error: words.vec does not exist\n"


def test_clean_up_still_runs() -> None:
    done = run('import atexit; atexit.register(print, "cleaned"); raise InputError("no")')
    assert done.stdout == "cleaned\n"


def test_batches_being_read_ahead_do_not_abort_the_end() -> None:
    busy = """
import atexit, threading, torch
atexit.register(print, "cleaned")
def work():
    while True:
        torch.ones(300, 300) @ torch.ones(300, 300)
for _ in range(8):
    threading.Thread(target=work, daemon=True).start()
raise InputError("no")
"""
    done = run(busy)
    assert (done.returncode, done.stdout, done.stderr) == (2, "cleaned\n", "error: no\n")


def test_a_defect_keeps_its_traceback() -> None:
    done = run('raise ValueError("ours")')
    assert done.returncode == 1
    assert "Traceback" in done.stderr
    assert done.stderr.endswith("ValueError: ours\n")


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


def exhausted_numpy() -> None:
    import numpy as np

    np.zeros((1 << 40, 1 << 10))


def exhausted_torch() -> None:
    import torch

    torch.zeros(1 << 50)


@pytest.mark.parametrize("exhaust", [exhausted_numpy, exhausted_torch])
def test_a_memory_that_is_too_small(exhaust):
    with pytest.raises((MemoryError, RuntimeError)) as raised:
        exhaust()
    assert re.match(
        r"there is not enough memory \(.* allocate [\d.]+ \w+.*\): ask for less", str(out_of_memory(raised.value))
    )


def test_a_memory_that_is_too_small_without_a_word():
    assert str(out_of_memory(MemoryError())) == "there is not enough memory (out of memory): ask for less"
    assert out_of_memory(RuntimeError("a defect")) is None
    assert out_of_memory(ValueError("you tried to allocate 3 bytes")) is None
