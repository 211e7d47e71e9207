"""Names for what is being written, and what killed processes leave under them."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from fairseq_xl.io import temporary
from fairseq_xl.io.temporary import temporary_name


@pytest.fixture
def dead() -> int:
    """The number of a process that has ended."""
    child = subprocess.Popen([sys.executable, "-c", ""])
    child.wait()
    return child.pid


def test_a_name_is_beside_the_file_and_of_this_process(tmp_path: Path) -> None:
    name = temporary_name(tmp_path / "table.vec")
    assert name.parent == tmp_path
    assert name.name.startswith(".table.vec.")
    assert name.name.endswith(f".{os.getpid()}.tmp")
    assert temporary_name(tmp_path / "none" / "x").parent == tmp_path / "none"


def test_what_dead_processes_left_goes_and_nothing_else(tmp_path: Path, dead: int) -> None:
    machine = temporary._MACHINE
    (tmp_path / f".table.vec.{machine}.{dead}.tmp").write_text("half")
    folder = tmp_path / f".archive.{machine}.{dead}.tmp"
    folder.mkdir()
    (folder / "a").touch()
    kept = {
        f".table.vec.{machine}.{os.getppid()}.tmp",
        f".table.vec.elsewhere.{dead}.tmp",
        f"mine.{machine}.{dead}.tmp",
        f".table.vec.{machine}.{dead}.tmp.mine",
        f".table.vec.{machine}.x.tmp",
        "table.vec",
    }
    for name in kept:
        (tmp_path / name).touch()
    temporary_name(tmp_path / "other")
    assert {path.name for path in tmp_path.iterdir()} == kept


def test_a_folder_is_swept_once(tmp_path: Path, dead: int) -> None:
    temporary_name(tmp_path / "first")
    left = tmp_path / f".table.vec.{temporary._MACHINE}.{dead}.tmp"
    left.touch()
    temporary_name(tmp_path / "second")
    assert left.exists(), "looking through a folder of a million pages for each of them would take long"
