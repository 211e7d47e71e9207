"""The sentences of the corpus: each text once, on one page, beside one sentence of the other language."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import astuple, dataclass, field
from pathlib import Path

from fairseq_xl.corpus.documents.document import Document
from fairseq_xl.io.errors import InputError
from fairseq_xl.io.lines import read_lines
from fairseq_xl.io.tables import write_tsv
from fairseq_xl.text.words import key

HEADER = ("number", "page", "topic", "fold", "first", "second")


@dataclass
class Positives:
    """N pairs that mean the same. No text is in two of them, on whichever side (see :func:`key`).

    Attributes:
        first, second: the texts.
        home: number of the page that each is taken from, the first with it.
        pages: numbers of all pages that have the first text, the home among them.
        seconds: keys of all texts that the first one stands beside on any page.
        counts: of pairs left out, by reason.
    """

    first: list[str] = field(default_factory=list)
    second: list[str] = field(default_factory=list)
    home: list[int] = field(default_factory=list)
    pages: list[set[int]] = field(default_factory=list)
    seconds: list[set[str]] = field(default_factory=list)
    counts: Counter[str] = field(default_factory=Counter)

    def __len__(self) -> int:
        return len(self.first)


def collect(documents: Sequence[Document], max_page_share: float) -> Positives:
    """The pairs of all pages, without those that

    - stand on more than a share of the pages, and on more than one: menus, footers;
    - have the same words on both sides: nothing was translated;
    - have a text that an earlier pair has on either side.
    """
    raw = [
        (page, " ".join(first.split()), " ".join(second.split()))
        for page, document in enumerate(documents)
        for first, second in document.pairs()
    ]
    keys = [(key(first), key(second)) for _, first, second in raw]
    spread: dict[str, set[int]] = defaultdict(set)
    beside: dict[str, set[str]] = defaultdict(set)
    for (page, _, _), pair in zip(raw, keys, strict=True):
        beside[pair[0]].add(pair[1])
        for side in pair:
            spread[side].add(page)
    most = max(1, max_page_share * len(documents))
    found = Positives()
    seen: set[str] = set()
    found.counts["pairs in"] = len(raw)
    for (page, first, second), pair in zip(raw, keys, strict=True):
        if max(len(spread[side]) for side in pair) > most:
            found.counts["left out, on too many pages"] += 1
        elif pair[0] == pair[1]:
            found.counts["left out, the same in both languages"] += 1
        elif not seen.isdisjoint(pair):
            found.counts["left out, repeated"] += 1
        else:
            seen.update(pair)
            found.first.append(first)
            found.second.append(second)
            found.home.append(page)
            found.pages.append(spread[pair[0]])
            found.seconds.append(beside[pair[0]])
    return found


@dataclass(frozen=True)
class Placed:
    """A pair that means the same, with its page and fold; fold -1 is the test split."""

    page: str
    topic: int
    fold: int
    first: str
    second: str


def write_positives(path: Path, rows: Sequence[Placed]) -> None:
    """A table with a row a pair, numbered from 0."""
    write_tsv(path, HEADER, ((number, *astuple(row)) for number, row in enumerate(rows)))


def read_positives(path: Path) -> list[Placed]:
    """What :func:`write_positives` wrote. Raises: InputError: no such file, or a row that is none."""
    found = []
    for number, line in enumerate(read_lines(path)):
        if number == 0:
            continue
        try:
            _, page, topic, fold, first, second = line.split("\t")
            found.append(Placed(page, int(topic), int(fold), first, second))
        except ValueError:
            raise InputError(f"{path}, line {number + 1}: no pair: run `fairseq-xl corpus negatives` again") from None
    return found
