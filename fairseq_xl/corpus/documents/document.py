"""The one record that flows through the pipeline: a page in two languages. Each step adds what it found."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

from fairseq_xl.io.atomic import atomic_text
from fairseq_xl.io.errors import InputError
from fairseq_xl.io.json_files import loads
from fairseq_xl.io.lines import read_lines

Bead = tuple[list[int], list[int]]


@dataclass
class Document:
    """A page and its counterpart.

    Attributes:
        id: unique in the project: the first language's path on the site.
        urls: of both pages.
        found_by: how the counterpart was found: hreflang, pattern, link.
        lines: of both pages, the first language's first, as ``extract`` made them.
        translation: of the second page's lines into the first language, line for line; None before ``translate``.
        beads: numbers of lines that mean the same, several on a side where one sentence is two; None before align.
        score: how well the beads fit, from 0 to 1, higher is better; None before ``align``.
        topic: dominant topic of the page; None before ``topics``.
    """

    id: str
    urls: tuple[str, str]
    found_by: str
    lines: tuple[list[str], list[str]]
    translation: list[str] | None = None
    beads: list[Bead] | None = None
    score: float | None = None
    topic: int | None = None

    def pairs(self) -> Iterator[tuple[str, str]]:
        """The texts of both sides of each bead that has two sides."""
        for left, right in self.beads or []:
            if left and right:
                first, second = self.lines
                yield " ".join(first[i] for i in left), " ".join(second[i] for i in right)


def write_documents(path: Path, documents: Iterable[Document]) -> int:
    """Write one JSON object a line, completely or not at all; return how many."""
    count = 0
    with atomic_text(path) as stream:
        for document in documents:
            json.dump(asdict(document), stream, ensure_ascii=False)
            stream.write("\n")
            count += 1
    return count


def read_documents(path: Path) -> Iterator[Document]:
    """The documents of a file, one by one.

    Raises:
        InputError: no such file, or a line that is none.
    """
    for number, line in enumerate(read_lines(path), start=1):
        try:
            found = loads(line)
            found["urls"] = tuple(found["urls"])
            found["lines"] = tuple(found["lines"])
            if found.get("beads") is not None:
                found["beads"] = [tuple(bead) for bead in found["beads"]]
            yield Document(**found)
        except (ValueError, TypeError, KeyError) as error:
            raise InputError(
                f"{path}, line {number}: no document ({error}): run the step that wrote it again"
            ) from None
