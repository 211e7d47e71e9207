"""Pages that a person aligns. The doubtful lines become a table to edit, which is then read back.

A row is a pair of lines, or of several on a side (``4 5``), numbered from 1. Change the numbers to put other lines
together. Remove a row to leave its lines out, and all rows of a page to leave the page out. You may also add rows. The
texts are only there to be read. Lines that the table did not hold at first stay beside the line at the same place.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from fairseq_xl.corpus.documents.document import Bead, Document
from fairseq_xl.io.errors import InputError
from fairseq_xl.io.lines import read_lines
from fairseq_xl.io.tables import write_tsv
from fairseq_xl.report.tables import as_text

HEADER = ("page", "check", "first lines", "second lines", "first text", "second text", "translation")


@dataclass
class Reviewed:
    """A page in the table: the checksum of its lines, and its rows with their line in the table."""

    check: str
    rows: list[tuple[int, Bead]] = field(default_factory=list)


def checksum(document: Document) -> str:
    """The checksum of a page's lines. A table made for other lines must not be used."""
    text = "\0\0".join("\0".join(side) for side in document.lines)
    return f"{zlib.crc32(text.encode()):08x}"


def write_review(path: Path, doubtful: Iterable[tuple[Document, list[int]]]) -> int:
    """Write the lines of each page at places that are misaligned, and return how many.

    Strangers wrote the lines, so a spreadsheet must not take one for a formula.
    """
    rows = []
    for document, places in doubtful:
        assert document.translation is not None
        for place in places:
            lines = (*(side[place] for side in document.lines), document.translation[place])
            rows.append((_on_one_line(document.id), checksum(document), place + 1, place + 1, *map(_shown, lines)))
    write_tsv(path, HEADER, rows)
    return len(rows)


def _on_one_line(text: str) -> str:
    return " ".join(text.split())


def _shown(line: str) -> str:
    return as_text(_on_one_line(line))


def read_review(path: Path) -> dict[str, Reviewed]:
    """The rows of each page.

    Raises:
        InputError: the file is missing, or a line, which it names, is not a row.
    """
    found: dict[str, Reviewed] = {}
    for number, cells in _rows(path):
        page, check, *sides = cells[:4]
        beads = []
        for cell in sides:
            parts = cell.replace(",", " ").split()
            if not parts or not all(part.isdecimal() and int(part) for part in parts):
                raise InputError(
                    f"{path}, line {number}: {cell!r} must be numbers of lines, counted from 1; remove the row to "
                    "leave its lines out"
                )
            beads.append([int(part) - 1 for part in parts])
        reviewed = found.setdefault(page, Reviewed(check))
        if reviewed.check != check:
            raise InputError(f"{path}, line {number}: {check} is not the check of the page's other rows: copy theirs")
        reviewed.rows.append((number, (beads[0], beads[1])))
    return found


def _rows(path: Path) -> Iterator[tuple[int, list[str]]]:
    for number, line in enumerate(read_lines(path), start=1):
        cells = line.split("\t")
        if number == 1:
            if tuple(cells[:4]) != HEADER[:4]:
                raise InputError(f"{path}, line 1: the first row must be {', '.join(HEADER)}")
        elif line.strip():
            if len(cells) < 4:
                raise InputError(
                    f"{path}, line {number} has {len(cells)} columns: give page, check and lines of both sides, "
                    "separated by tabs"
                )
            yield number, cells


def reviewed_beads(
    path: Path, document: Document, places: list[int], reviewed: Mapping[str, Reviewed]
) -> list[Bead] | None:
    """The page's beads: the reviewed ones at the misaligned places, and lines at the same place elsewhere.

    Returns:
        beads by the first line of the first language. None if the table has no row of this page.

    Raises:
        InputError: the rows are for other lines than the page has now, or two beads name one line.
    """
    if document.id not in reviewed:
        return None
    found = reviewed[document.id]
    size = len(document.lines[0])
    if found.check != checksum(document):
        raise InputError(f"{path}, line {found.rows[0][0]}: {document.id} has other lines now: export the table anew")
    doubtful = set(places)
    beads: list[Bead] = [([place], [place]) for place in range(size) if place not in doubtful]
    used = tuple({line for bead in beads for line in bead[side]} for side in (0, 1))
    for number, bead in found.rows:
        for side, lines in enumerate(bead):
            for line in lines:
                if line >= len(document.lines[side]):
                    raise InputError(f"{path}, line {number}: {document.id} has no line {line + 1}")
                if line in used[side]:
                    raise InputError(
                        f"{path}, line {number}: line {line + 1} of {document.id} is in another pair, too: name it once"
                    )
                used[side].add(line)
        beads.append(bead)
    return sorted(beads)
