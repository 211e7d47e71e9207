"""Alignments of lines: by place, as text, ``[0]:[0]``, ``[1, 2]:[1]``, ``[]:[2]:0.31``, and by a command.

Lines are counted from 0. The command is vecalign (Thompson & Koehn 2019, "Vecalign: Improved Sentence Alignment in
Linear Time and Space"), or any aligner. It needs embeddings of runs of lines, so the command is the user's: a script
that makes them and calls vecalign.
"""

from __future__ import annotations

import re
import shlex
import subprocess
import tempfile
from collections.abc import Iterable, Sequence
from pathlib import Path

from fairseq_xl.corpus.documents.document import Bead
from fairseq_xl.io.errors import InputError

_BEAD = re.compile(r"\[([\d, ]*)\]:\[([\d, ]*)\](?::\S+)?")


def same_place(first: Sequence[str], second: Sequence[str]) -> list[Bead]:
    """Line k beside line k, as far as the shorter side goes."""
    return [([place], [place]) for place in range(min(len(first), len(second)))]


def parse_beads(lines: Iterable[str], name: str) -> list[Bead]:
    """The beads of gold files and of vecalign's output, whose scores are passed over; empty lines, too.

    Raises:
        InputError: a line that is none, naming it.
    """
    found = []
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        match = _BEAD.fullmatch(line.strip())
        try:
            if match is None:
                raise ValueError
            left, right = ([int(n) for n in side.split(",") if n.strip()] for side in match.groups())
        except ValueError:
            raise InputError(f"{name}, line {number}: {line.strip()!r} is no alignment like [0, 1]:[2]") from None
        found.append((left, right))
    return found


def check_beads(beads: Iterable[Bead], sizes: tuple[int, int], name: str) -> None:
    """See that each line is there and in one bead at most.

    Raises:
        InputError: one that is not.
    """
    used: tuple[set[int], set[int]] = (set(), set())
    for bead in beads:
        for side, seen, size in zip(bead, used, sizes, strict=True):
            for line in side:
                if not 0 <= line < size:
                    raise InputError(f"{name}: {bead[0]}:{bead[1]} names line {line} of {size} (counted from 0)")
                if line in seen:
                    raise InputError(f"{name}: line {line} is in two alignments")
                seen.add(line)


def vecalign(command: str, first: Sequence[str], second: Sequence[str]) -> list[Bead]:
    """The alignments that a command prints, lines of ``[0]:[0, 1]:score``.

    Args:
        command: program and arguments, which no shell sees; {first} and {second} stand for the files of lines.

    Raises:
        InputError: no such command, one that fails, or output that is no alignment of these lines.
    """
    if "{first}" not in command or "{second}" not in command:
        raise InputError(
            f"the vecalign command is {command!r}: it must name {{first}} and {{second}}, the files to align"
        )
    with tempfile.TemporaryDirectory() as folder:
        files = {"first": Path(folder, "first.txt"), "second": Path(folder, "second.txt")}
        for path, lines in zip(files.values(), (first, second), strict=True):
            path.write_text("".join(" ".join(line.split()) + "\n" for line in lines), "utf-8")
        try:
            parts = [
                part.replace("{first}", str(files["first"])).replace("{second}", str(files["second"]))
                for part in shlex.split(command)
            ]
        except ValueError as error:
            raise InputError(f"the vecalign command {command!r} cannot be read: {error}") from None
        try:
            done = subprocess.run(parts, capture_output=True, text=True, encoding="utf-8", errors="replace")
        except OSError as error:
            raise InputError(
                f"{parts[0]} cannot be run ({error.strerror}): give the command of your vecalign script"
            ) from None
    if done.returncode:
        last = (done.stderr.strip().splitlines() or ["it said nothing"])[-1]
        raise InputError(f"{parts[0]} ended with status {done.returncode}: {last}")
    beads = parse_beads(done.stdout.splitlines(), f"output of {parts[0]}")
    check_beads(beads, (len(first), len(second)), f"output of {parts[0]}")
    return beads
