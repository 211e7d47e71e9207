"""A user's mistake ends a process with one sentence; any other exception keeps its traceback."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from fairseq_xl.io.errors import InputError

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
