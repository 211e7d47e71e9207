"""Alignments as lines of text: ``[0]:[0]``, ``[1, 2]:[1]``, ``[]:[2]:0.31``; lines counted from 0."""

from __future__ import annotations

import re
from collections.abc import Iterable

from fairseq_xl.corpus.documents.document import Bead
from fairseq_xl.io.errors import InputError

_BEAD = re.compile(r"\[([\d, ]*)\]:\[([\d, ]*)\](?::\S+)?")


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
