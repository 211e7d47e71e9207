"""``fairseq-xl corpus align``: which lines mean the same."""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from fairseq_xl.cli.corpus.options import add_project, run_once
from fairseq_xl.corpus.alignment import align, aligner, review
from fairseq_xl.corpus.alignment.vecalign import vecalign
from fairseq_xl.corpus.documents.document import Bead, Document, read_documents, write_documents
from fairseq_xl.corpus.documents.project import Project
from fairseq_xl.io.errors import InputError

METHODS = ("paper", "dynamic", "vecalign")
REPAIRS = ("dynamic", "review", "none")


@dataclass
class AlignSettings:
    """Section ``align``."""

    method: str = field(
        default="paper",
        metadata={
            "help": "paper: line k beside line k of pages with equally many lines; dynamic: the best alignment by "
            "lengths and translation; vecalign: a command of yours"
        },
    )
    distance: float = field(
        default=0.6,
        metadata={
            "help": "lines whose word-frequency cosine distance to the translation is greater are misaligned; raise "
            "it where the translation is rough"
        },
    )
    max_misaligned: int = field(
        default=10, metadata={"help": "paper: pages with more misaligned lines are discarded, others repaired"}
    )
    repair: str = field(
        default="dynamic",
        metadata={
            "help": "how pages with few misaligned lines are repaired: dynamic; review: by hand, in the table that "
            "the step writes; none: they are discarded"
        },
    )
    review: str = field(
        default="",
        metadata={
            "help": "the edited table, a path from the project's folder on; without it, repair: review writes one, "
            "review.tsv, and leaves its pages out"
        },
    )
    translation: bool = field(
        default=True,
        metadata={
            "help": "use the translation; without it (dynamic and vecalign only) the step needs no translate, and "
            "its pairs are not checked"
        },
    )
    max_share: float = field(
        default=0.5,
        metadata={
            "help": "dynamic, vecalign: pages are discarded where more than this share of the pairs is misaligned"
        },
    )
    ratio: float = field(
        default=0.0,
        metadata={
            "help": "dynamic: characters of the second language for each of the first; 0: as in all pages together"
        },
    )
    vecalign: str = field(
        default="",
        metadata={
            "help": "command that prints alignments as vecalign does, [0]:[0, 1]:score, {first} and {second} in it "
            "standing for files of lines; it runs once a page, without a shell"
        },
    )

    def check(self) -> None:
        """Raises: InputError: settings that do not fit."""
        if self.method not in METHODS:
            raise InputError(f"align.method is {', '.join(METHODS)}, not {self.method!r}")
        if self.repair not in REPAIRS:
            raise InputError(f"align.repair is {', '.join(REPAIRS)}, not {self.repair!r}")
        if self.method == "paper" and not self.translation:
            raise InputError("align.method paper needs the translation: it is what lines are compared by")


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the step's options."""
    parser.description = (
        "Find the lines of both languages that mean the same. Pages are aligned, repaired or discarded; "
        "DIR/align.jsonl holds those with pairs."
    )
    add_project(parser)


def run(args: argparse.Namespace) -> None:
    """Align and write the documents.

    Raises:
        InputError: settings that do not fit, a table or a command that cannot be used, no page left.
    """
    run_once(args, "align", AlignSettings, _inputs, _work)


def _inputs(project: Project, settings: AlignSettings) -> list[Path]:
    settings.check()
    files = [project.folder / ("translate.jsonl" if settings.translation else "extract.jsonl")]
    return [*files, project.folder / settings.review] if settings.review else files


def _work(project: Project, settings: AlignSettings) -> dict[str, Any]:
    documents = list(read_documents(_inputs(project, settings)[0]))
    for document in documents:
        if settings.translation and document.translation is None:
            raise InputError(f"{document.id} has no translation: run `fairseq-xl corpus translate`")
    counts: Counter[str] = Counter()
    if settings.method == "paper":
        found = _by_place(project, settings, documents, counts)
    else:
        found = _by_aligner(settings, documents, counts)
    if not found:
        raise InputError(f"no page of {len(documents)} could be aligned: {dict(counts)}")
    write_documents(project.folder / "align.jsonl", found)
    pairs = sum(len(document.beads or ()) for document in found)
    return {"pages in": len(documents), "pages": len(found), "pairs": pairs, **counts}


def _by_place(
    project: Project, settings: AlignSettings, documents: Sequence[Document], counts: Counter[str]
) -> list[Document]:
    ratio = _ratio(settings, documents)
    table = project.folder / (settings.review or "review.tsv")
    reviewed = review.read_review(table) if settings.review else {}
    found, doubtful = [], []
    for document in documents:
        if len(document.lines[0]) != len(document.lines[1]) or not document.lines[0]:
            counts["discarded, unequal numbers of lines"] += 1
            continue
        beads = align.same_place(document)
        alike = align.similarities(document, beads)
        suspects = align.misaligned(alike, settings.distance)
        places = align.without_isolated(suspects)
        if not places:
            counts["aligned"] += 1
            counts["lines forgiven"] += len(suspects)
            found.append(_with(document, beads))
        elif len(places) > settings.max_misaligned or settings.repair == "none":
            counts["discarded, misaligned"] += 1
        elif settings.repair == "review":
            doubtful.append((document, places))
            repaired = review.reviewed_beads(table, document, places, reviewed)
            if repaired is None:
                counts["discarded, not reviewed"] += 1
            elif repaired:
                counts["repaired"] += 1
                found.append(_with(document, repaired))
        elif aligner.too_long(len(document.lines[0]), len(document.lines[1])):
            counts["discarded, too long"] += 1
        else:
            kept, left_out = _checked(document, _dynamic(settings, document, ratio), settings)
            if kept:
                counts["repaired"] += 1
                counts["pairs left out of repaired pages"] += left_out
                found.append(_with(document, kept))
            else:
                counts["discarded, misaligned"] += 1
    if settings.repair == "review" and not settings.review and doubtful:
        if table.exists():
            raise InputError(f"{table} is there: set align.review to it when it is edited, or remove it for a new one")
        counts["lines to review"] = review.write_review(table, doubtful)
    return found


def _by_aligner(settings: AlignSettings, documents: Sequence[Document], counts: Counter[str]) -> list[Document]:
    ratio = _ratio(settings, documents)
    found = []
    for document in documents:
        sizes = len(document.lines[0]), len(document.lines[1])
        if settings.method == "vecalign":
            beads = vecalign(settings.vecalign, *document.lines)
        elif aligner.too_long(*sizes):
            counts["discarded, too long"] += 1
            continue
        else:
            beads = _dynamic(settings, document, ratio)
        pairs = [bead for bead in beads if all(bead)]
        kept, left_out = _checked(document, beads, settings)
        if not kept or left_out > settings.max_share * len(pairs):
            counts["discarded, misaligned"] += 1
            continue
        counts["aligned"] += 1
        counts["pairs left out"] += left_out
        counts["lines without counterpart"] += sum(sizes) - sum(len(side) for bead in pairs for side in bead)
        found.append(_with(document, kept))
    return found


def _dynamic(settings: AlignSettings, document: Document, ratio: float) -> list[Bead]:
    translation = document.translation if settings.translation else None
    return aligner.align(*document.lines, translation, ratio)


def _checked(document: Document, beads: Sequence[Bead], settings: AlignSettings) -> tuple[list[Bead], int]:
    """The beads with two sides that pass the paper's check, and how many do not."""
    pairs = [bead for bead in beads if all(bead)]
    if not settings.translation:
        return pairs, 0
    suspects = align.misaligned(align.similarities(document, pairs), settings.distance)
    bad = set(align.without_isolated(suspects))
    return [bead for place, bead in enumerate(pairs) if place not in bad], len(bad)


def _ratio(settings: AlignSettings, documents: Sequence[Document]) -> float:
    """Characters of the second language for each of the first."""
    if settings.ratio > 0:
        return settings.ratio
    first, second = (sum(len(line) for document in documents for line in document.lines[side]) for side in (0, 1))
    return second / first if first and second else 1.0


def _with(document: Document, beads: list[Bead]) -> Document:
    """The document with its beads; its score is their mean similarity, where there is a translation."""
    score = None
    if document.translation is not None:
        score = round(float(np.mean(align.similarities(document, beads))), 4)
    return replace(document, beads=beads, score=score)
