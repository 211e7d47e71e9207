"""vecalign, or any aligner that prints its alignments, run on two files of lines.

Thompson & Koehn 2019, "Vecalign: Improved Sentence Alignment in Linear Time and Space". It needs embeddings of
runs of lines, so the command is the user's: a script that makes them and calls vecalign.
"""

from __future__ import annotations

import shlex
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path

from fairseq_xl.corpus.alignment.beads import check_beads, parse_beads
from fairseq_xl.corpus.documents.document import Bead
from fairseq_xl.io.errors import InputError


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
            done = subprocess.run(parts, capture_output=True, text=True, encoding="utf-8")
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
