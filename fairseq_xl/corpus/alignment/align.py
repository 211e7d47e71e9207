"""The step ``align``: which lines of a page and its counterpart mean the same.

The paper's check ("Multilingual Corpus Creation for Multilingual Semantic Similarity Task", section 2.1.4) compares
lines at the same place of two pages. Pages that fail it, or have unequal numbers of lines, can go to an aligner.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from fairseq_xl.corpus.alignment import aligner, review
from fairseq_xl.corpus.alignment.beads import same_place, vecalign
from fairseq_xl.corpus.documents.document import Bead, Document, read_documents, write_documents
from fairseq_xl.corpus.project import Project, Step
from fairseq_xl.io.errors import InputError
from fairseq_xl.io.settings import option
from fairseq_xl.text.words import frequency_cosine


@dataclass
class AlignSettings:
    """Section ``align``."""

    method: str = option(
        "how lines are aligned. Choose paper to pair line k with line k of pages with equally many lines. Choose "
        "dynamic for the best alignment by lengths and translation, or vecalign for a command of yours",
        "paper",
        choices=("paper", "dynamic", "vecalign"),
    )
    distance: float = option(
        "lines whose word-frequency cosine distance to the translation is greater are misaligned. Raise "
        "it where the translation is rough",
        0.6,
        low=0,
        high=1,
    )
    max_misaligned: int = option("paper: pages with more misaligned lines are discarded, others repaired", 10, low=0)
    repair: str = option(
        "how pages with few misaligned lines are repaired. Choose dynamic to align them anew, or review to repair "
        "them by hand in the table that the step writes. Choose none to discard them",
        "dynamic",
        choices=("dynamic", "review", "none"),
    )
    review: str = option(
        "the edited table, a path relative to the project's folder. Without it, repair: review writes review.tsv and "
        "leaves its pages out",
        "",
    )
    translation: bool = option(
        "use the translation. Without it (dynamic and vecalign only) the step needs no translate, and "
        "its pairs are not checked",
        True,
    )
    max_share: float = option(
        "dynamic, vecalign: pages are discarded where more than this share of the pairs is misaligned",
        0.5,
        low=0,
        high=1,
    )
    ratio: float = option(
        "dynamic: characters of the second language for each of the first. 0 takes the ratio of all pages together",
        0.0,
        low=0,
    )
    vecalign: str = option(
        "vecalign: the command, which prints alignments as vecalign does, [0]:[0, 1]:score. In it {first} and {second} "
        "stand for files of lines. It runs once for each page, without a shell",
        "",
    )


def misaligned(similarities: Sequence[float], distance: float) -> list[int]:
    """Places whose cosine distance, 1 minus the similarity, is greater than the threshold."""
    return [place for place, value in enumerate(similarities) if 1 - value > distance]


def without_isolated(places: Sequence[int]) -> list[int]:
    """Places, rising, that have another one right before or after them.

    A single line may only have a poor translation.
    """
    known = set(places)
    return [place for place in places if place - 1 in known or place + 1 in known]


def similarities(document: Document, beads: Sequence[Bead]) -> list[float]:
    """Word-frequency cosine of each bead with two sides: the first language's lines and the others' translation.

    Args:
        document: with its translation.
    """
    first, second = document.lines[0], document.translation
    assert second is not None
    return [
        frequency_cosine(" ".join(first[line] for line in left), " ".join(second[line] for line in right))
        for left, right in beads
    ]


def _inputs(project: Project, settings: AlignSettings) -> list[Path]:
    if settings.method == "paper" and not settings.translation:
        raise InputError("align.method paper needs the translation: it is what lines are compared by")
    if settings.review and settings.repair != "review":
        raise InputError(f"align.review names a table, and align.repair is {settings.repair}: set it to review, too")
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
        beads = same_place(*document.lines)
        alike = similarities(document, beads)
        suspects = misaligned(alike, settings.distance)
        places = without_isolated(suspects)
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
    suspects = misaligned(similarities(document, pairs), settings.distance)
    bad = set(without_isolated(suspects))
    return [bead for place, bead in enumerate(pairs) if place not in bad], len(bad)


def _ratio(settings: AlignSettings, documents: Sequence[Document]) -> float:
    """Characters of the second language for each of the first."""
    if settings.ratio > 0:
        return settings.ratio
    first, second = (sum(len(line) for document in documents for line in document.lines[side]) for side in (0, 1))
    return second / first if first and second else 1.0


def _with(document: Document, beads: list[Bead]) -> Document:
    """The document with its beads. Its score is their mean similarity, if there is a translation."""
    score = None
    if document.translation is not None:
        score = round(float(np.mean(similarities(document, beads))), 4)
    return replace(document, beads=beads, score=score)


STEP = Step(AlignSettings, _inputs, ["align.jsonl"], _work)
