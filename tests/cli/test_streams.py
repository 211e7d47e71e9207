"""Commands with standard streams that are closed, full, left by their reader, or of another encoding."""

from __future__ import annotations

import itertools
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
ASCII = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
CLOSED = "error: standard input or output is closed, and this command needs it: connect it, or name a file\n"


@pytest.fixture
def shell(cli_code, tmp_path):
    """``shell("vectors info x >&-")`` runs fairseq-xl in a folder of its own, by a shell."""

    def run(line: str, **environment: str) -> subprocess.CompletedProcess[bytes]:
        env = {**os.environ, "PYTHONPATH": str(ROOT), "PYTHON": sys.executable, "CODE": cli_code, **environment}
        env.pop("PYTHONUNBUFFERED", None)
        script = f'fairseq_xl() {{ "$PYTHON" -c "$CODE" "$@"; }}; fairseq_xl {line}'
        return subprocess.run(["sh", "-c", script], env=env, cwd=tmp_path, capture_output=True, timeout=600)

    return run


EVERY = [each for n in (1, 2, 3) for each in itertools.combinations(("<&-", ">&-", "2>&-"), n)]


@pytest.mark.parametrize("closed", EVERY, ids=" ".join)
@pytest.mark.parametrize(
    ("words", "status"), [("user-dir", 0), ("--help", 0), ("vectors neighbours b --vectors a.vec", 2)]
)
def test_closed(closed, words, status, shell):
    done = shell(f"{words} {' '.join(closed)}")
    said = done.stderr.decode()
    assert done.returncode == (2 if ">&-" in closed else status)
    assert (not said) if "2>&-" in closed else said.count("\n") == (done.returncode == 2)
    if ">&-" in closed and not status and "2>&-" not in closed:
        assert said == CLOSED


def test_closed_input_that_is_needed(shell):
    done = shell("embed text model --output a.npy <&-")
    assert (done.returncode, done.stderr.decode()) == (2, CLOSED)


def test_a_file_does_not_get_what_is_meant_for_a_closed_stream(shell, tmp_path):
    (tmp_path / "dict.txt").write_text("one 1\ntwo 1\n")
    words = "vectors random --dict dict.txt --dim 2 --output a.vec"
    shell(words)
    whole = (tmp_path / "a.vec").read_bytes()
    for closed in EVERY:
        shell(f"{words} {' '.join(closed)}")
        assert (tmp_path / "a.vec").read_bytes() == whole


@pytest.mark.parametrize("words", ["user-dir", "--help", "vectors train --help"])
def test_a_full_disk(words, shell):
    done = shell(f"{words} >/dev/full")
    assert (done.returncode, done.stderr) == (2, b"error: No space left on device\n")


@pytest.mark.parametrize("words", ["nothing", "vectors train --nothing", "vectors neighbours b --vectors a.vec"])
def test_nowhere_to_say_what_is_wrong(words, shell):
    assert shell(f"{words} 2>/dev/full").returncode == 2


@pytest.mark.parametrize(
    ("words", "status"), [("user-dir", 141), ("--help", 141), ("nothing 2>&1 >/dev/null", 2), ("nothing", 2)]
)
def test_a_reader_that_has_gone(words, status, cli_code, tmp_path):
    reading, writing = os.pipe()
    os.close(reading)
    env = {name: value for name, value in os.environ.items() if name != "PYTHONUNBUFFERED"} | {"PYTHONPATH": str(ROOT)}
    script = f'"$0" -c "$1" {words}'
    done = subprocess.run(
        ["sh", "-c", script, sys.executable, cli_code], env=env, stdout=writing, stderr=subprocess.PIPE, timeout=600
    )
    os.close(writing)
    assert (done.returncode, done.stderr.count(b"\n")) == (status, int(words == "nothing"))


@pytest.mark.parametrize("encoding", ["latin-1", "ascii", "utf-8"])
@pytest.mark.parametrize("words", ["--help", "match words --help", "embed --help"])
def test_help_in_any_locale(encoding, words, shell):
    done = shell(words, **ASCII, PYTHONIOENCODING=encoding)
    assert (done.returncode, done.stderr) == (0, b"")
    assert "…" in done.stdout.decode()


def test_arguments_files_and_text_in_an_ascii_locale(shell, tmp_path):
    name = "wörter-語.vec"
    (tmp_path / "dict.txt").write_text("größe 1\n語 1\n", encoding="utf-8")
    done = shell(f"vectors random --dict dict.txt --dim 2 --output {name}", **ASCII, PYTHONIOENCODING="latin-1")
    assert (done.returncode, done.stderr[:6]) == (0, b"wrote ")
    assert "größe" in (tmp_path / name).read_text(encoding="utf-8")
    done = shell("vectors nothing-語", **ASCII)
    assert done.stderr.decode().startswith("error: fairseq-xl vectors has no command 'nothing-語'")
    done = shell(f"vectors neighbours größe --vectors {name} --quiet", **ASCII, PYTHONIOENCODING="latin-1")
    assert (done.returncode, done.stderr) == (0, b"")
    assert "語" in done.stdout.decode()


@pytest.mark.parametrize("environment", [{"PYTHONUTF8": "0"}, {"PYTHONIOENCODING": "latin-1"}], ids=str)
def test_what_a_recipe_starts_prints_utf_8(environment):
    line = f'source "{ROOT}/recipes/lib/common.sh"; "$0" -c "print(chr(8230))"'
    env = os.environ | {"LC_ALL": "C", "PYTHONCOERCECLOCALE": "0"} | environment
    done = subprocess.run(["bash", "-c", line, sys.executable], env=env, capture_output=True, timeout=600)
    assert (done.returncode, done.stdout) == (0, "…\n".encode())
