"""Parallel text as it is published: each reader yields the pairs of two languages, line by line.

``Position`` is the line after which reading goes on, so that a reader can begin where a killed one stopped.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Protocol

from fairseq_xl.errors import InputError
from fairseq_xl.text.lines import count_lines, read_lines
from fairseq_xl.text.parallel import check_equal_counts

Pair = tuple[str, str]


class PairReader(Protocol):
    """Pairs of sentences of two languages."""

    languages: tuple[str, str]
    files: tuple[Path, ...]

    def __len__(self) -> int:
        """Lines to read."""

    def pairs(self, start: int) -> Iterator[Pair]:
        """One pair for each line from line ``start`` on (the first is 0); an unusable line gives empty sides."""


@dataclass(frozen=True)
class TabSeparated:
    """One file, two columns in the order of ``languages``; more columns (attributions) are passed over."""

    languages: tuple[str, str]
    files: tuple[Path, ...]

    def __len__(self) -> int:
        return count_lines(self.files[0])

    def pairs(self, start: int) -> Iterator[Pair]:
        (path,) = self.files
        for number, line in enumerate(islice(read_lines(path), start, None), start=start + 1):
            cells = line.split("\t")
            if len(cells) < 2:
                raise InputError(f"{path}, line {number}: no tab between two sentences")
            yield cells[0], cells[1]


@dataclass(frozen=True)
class LineAligned:
    """Two files whose lines *n* are translations of each other, as OPUS and Moses have them.

    Attributes:
        limit: read no further than this line (0: all).
        subtitles: take off what subtitles carry beside the sentence.
    """

    languages: tuple[str, str]
    files: tuple[Path, ...]
    limit: int = 0
    subtitles: bool = False

    def __len__(self) -> int:
        check_equal_counts(*self.files)
        lines = count_lines(self.files[0])
        return min(lines, self.limit) if self.limit else lines

    def pairs(self, start: int) -> Iterator[Pair]:
        both = zip(*map(read_lines, self.files), strict=True)
        for left, right in islice(both, start, self.limit or None):
            yield (spoken(left), spoken(right)) if self.subtitles else (left, right)


# <i>, {\an8}, ♪, (DOOR SLAMS), [music], and the name of who speaks
_MARKUP = re.compile(r"<[^<>]*>|\{[^{}]*\}|[♪♫#*]+|\([^()]*\)|\[[^\[\]]*\]|（[^（）]*）")
_DASH = re.compile(r"^\s*[-–—‐]+\s*")
_SPEAKER = re.compile(r"^[A-ZÀ-Þ][A-ZÀ-Þ .'’]+:\s+")


def spoken(line: str) -> str:
    """The words of a subtitle: no markup, no description of sounds, no speaker's name and no dash before them.

    A dash inside stays, so that a line of two speakers is recognised as two sentences.
    """
    return _SPEAKER.sub("", _DASH.sub("", _MARKUP.sub(" ", line).strip())).strip()
