"""Precision and recall of aligners on gold alignments.

Strict scores count a bead as right when the gold alignment has the same bead. Lax scores count it when a gold bead
shares a line of both sides with it (precision). They count a gold bead as found when a bead shares a line of both sides
with it (recall). Lines without a counterpart, which are beads with an empty side, are left out on both sides. That is
usual (Thompson & Koehn 2019).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import astuple, dataclass
from pathlib import Path

from fairseq_xl.corpus.alignment.aligner import align
from fairseq_xl.corpus.alignment.beads import check_beads, parse_beads, same_place, vecalign
from fairseq_xl.corpus.alignment.induced import align_pages
from fairseq_xl.corpus.documents.document import Bead
from fairseq_xl.io.errors import InputError
from fairseq_xl.io.lines import read_lines
from fairseq_xl.report.tables import Table


@dataclass(frozen=True)
class Quality:
    """Precision, recall and their harmonic mean, from 0 to 1."""

    precision: float
    recall: float
    f1: float


def quality(found: Sequence[Bead], gold: Sequence[Bead]) -> dict[str, Quality]:
    """``strict`` and ``lax``."""
    found, gold = ([bead for bead in beads if all(bead)] for beads in (found, gold))
    known = {_links(bead) for bead in gold}, {_links(bead) for bead in found}
    lines = [frozenset().union(*map(_links, beads)) for beads in (gold, found)]
    result = {}
    for name, right in (
        ("strict", lambda bead, other: _links(bead) in known[other]),
        ("lax", lambda bead, other: not _links(bead).isdisjoint(lines[other])),
    ):
        precision = _share([right(bead, 0) for bead in found])
        recall = _share([right(bead, 1) for bead in gold])
        both = precision + recall
        result[name] = Quality(precision, recall, 2 * precision * recall / both if both else 0.0)
    return result


def _links(bead: Bead) -> frozenset[tuple[int, int]]:
    """Beads are equal when these are; they share a line of both sides when these meet."""
    return frozenset((left, right) for left in bead[0] for right in bead[1])


def _share(right: Sequence[bool]) -> float:
    return sum(right) / len(right) if right else 0.0


def read_gold(path: Path, sizes: tuple[int, int]) -> list[Bead]:
    """Gold beads of texts with so many lines. Raises: InputError: the file is missing, or of other texts."""
    beads = parse_beads(read_lines(path), str(path))
    check_beads(beads, sizes, str(path))
    return beads


def compare(
    first: Sequence[str],
    second: Sequence[str],
    gold: Sequence[Bead],
    parallel: Sequence[tuple[str, str]] = (),
    translation: Sequence[str] | None = None,
    command: str | None = None,
) -> Table:
    """A row for each aligner, in percent.

    Args:
        first, second: the lines of both texts.
        gold: as :func:`read_gold` gives them.
        parallel: pairs of sentences that the dictionary is learned from besides the texts.
        translation: of the second text into the first's language, line for line. It adds a row.
        command: see :func:`~fairseq_xl.corpus.alignment.beads.vecalign`. It adds a row.

    Raises:
        InputError: there is no gold pair, or the command cannot be used.
    """
    if not any(map(all, gold)):
        raise InputError("the gold alignments hold no line with a counterpart: nothing can be found")
    ratio = sum(map(len, second)) / max(sum(map(len, first)), 1) or 1.0
    found = {
        "same place (paper)": same_place(first, second),
        "dynamic, lengths": align(first, second, None, ratio),
        "dynamic, induced dictionary": align_pages([(first, second)], ratio, parallel)[0],
    }
    if translation is not None:
        found["dynamic, translation"] = align(first, second, translation, ratio)
    if command:
        found["vecalign"] = vecalign(command, first, second)
    headings = ["aligner", *(f"{kind} {measure}" for kind in ("strict", "lax") for measure in ("P", "R", "F1"))]
    table = Table(f"{sum(map(all, gold))} gold pairs", headings)
    for name, beads in found.items():
        scores = quality(beads, gold)
        values = [value for kind in ("strict", "lax") for value in astuple(scores[kind])]
        table.add(name, *(f"{100 * value:.1f}" for value in values))
    return table
