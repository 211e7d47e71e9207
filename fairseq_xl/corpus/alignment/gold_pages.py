"""Gold alignments of pages whose paragraphs carry the same id in every language, and the aligners measured on them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import astuple, dataclass
from pathlib import Path

import numpy as np

from fairseq_xl.corpus.alignment.aligner import align
from fairseq_xl.corpus.alignment.beads import same_place
from fairseq_xl.corpus.alignment.induced import align_pages
from fairseq_xl.corpus.alignment.paragraphs import page_names, paragraphs
from fairseq_xl.corpus.alignment.quality import quality
from fairseq_xl.corpus.documents.document import Bead
from fairseq_xl.io.errors import InputError
from fairseq_xl.report.tables import Table


@dataclass(frozen=True)
class PagePair:
    """The paragraphs of a page in both languages, and which of them translate each other by their ids."""

    first: list[str]
    second: list[str]
    gold: list[Bead]


def read_pages(first: Path, second: Path, most: int = 0, drop: float = 0.0, seed: int = 1) -> list[PagePair]:
    """The pages with the same name in both folders that share an id, in the order of their names.

    Args:
        most: look at so many pages, evenly spread over the names; 0: all.
        drop: leave out this share of the second language's paragraphs, drawn, as pages in need of an aligner lack some.

    Raises:
        InputError: a folder that is none, or no page with ids in common.
    """
    random, found = np.random.default_rng(seed), []
    names = page_names(first, second)
    count = min(most, len(names)) or len(names)
    for page in (names[number * len(names) // count] for number in range(count)):
        sides = paragraphs((first / page).read_bytes()), paragraphs((second / page).read_bytes())
        kept = [name for name in sides[1] if random.random() >= drop]
        place = {name: number for number, name in enumerate(kept)}
        gold = [([number], [place[name]]) for number, name in enumerate(sides[0]) if name in place]
        if gold:
            found.append(PagePair(list(sides[0].values()), [sides[1][name] for name in kept], gold))
    if not found:
        raise InputError(f"{first} and {second} share no ids of paragraphs: such pages are aligned by `corpus align`")
    return found


def compare_pages(pages: Sequence[PagePair]) -> Table:
    """A row an aligner: strict precision, recall and F1 in percent over all paragraphs, and F1 by kind of page."""
    ratio = sum(len(t) for page in pages for t in page.second) / sum(len(t) for page in pages for t in page.first)
    equal = [len(page.first) == len(page.second) for page in pages]
    found = {
        "same place (paper)": [same_place(page.first, page.second) for page in pages],
        "dynamic, lengths": [align(page.first, page.second, None, ratio) for page in pages],
        "dynamic, induced dictionary": align_pages([(page.first, page.second) for page in pages], ratio),
    }
    same = sum(_alike(page, bead) for page in pages for bead in page.gold)
    count = sum(len(page.gold) for page in pages)
    table = Table(
        f"{count} gold pairs ({same} alike in both) on {len(pages)} pages, {sum(equal)} with equally many paragraphs",
        ["aligner", "P", "R", "F1", "F1, equally many", "F1, other pages", "R, alike", "R, translated"],
    )
    for name, beads in found.items():
        cells = [f"{100 * value:.1f}" for value in _scores(pages, beads, [True] * len(pages))]
        for chosen in (equal, [not one for one in equal]):
            cells.append(f"{100 * _scores(pages, beads, chosen)[2]:.1f}" if any(chosen) else "–")
        for wanted in (True, False):
            cells.append(_recall(pages, beads, wanted))
        table.add(name, *cells)
    return table


def _scores(pages: Sequence[PagePair], beads: Sequence[list[Bead]], chosen: Sequence[bool]) -> tuple[float, ...]:
    """Strict precision, recall and F1 over the chosen pages as one text."""
    gold: list[Bead] = []
    found: list[Bead] = []
    start = (0, 0)
    for page, own, wanted in zip(pages, beads, chosen, strict=True):
        if wanted:
            for into, some in ((gold, page.gold), (found, own)):
                into += [([i + start[0] for i in left], [j + start[1] for j in right]) for left, right in some]
        start = start[0] + len(page.first), start[1] + len(page.second)
    return astuple(quality(found, gold)["strict"])


def _alike(page: PagePair, bead: Bead) -> bool:
    return page.first[bead[0][0]] == page.second[bead[1][0]]


def _recall(pages: Sequence[PagePair], beads: Sequence[list[Bead]], alike: bool) -> str:
    """The share of the gold pairs that were found, of those alike in both languages or of the others, in percent."""
    hits = [
        bead in own for page, own in zip(pages, beads, strict=True) for bead in page.gold if _alike(page, bead) == alike
    ]
    return f"{100 * sum(hits) / len(hits):.1f}" if hits else "–"
