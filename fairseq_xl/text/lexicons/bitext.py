"""A parallel corpus as arrays of word numbers, as word alignment reads it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np

from fairseq_xl.io.errors import InputError
from fairseq_xl.io.lines import read_lines
from fairseq_xl.text.parallel import check_equal_counts


@dataclass(frozen=True)
class Side:
    """One language of M sentences with N words in all, of V kinds."""

    words: list[str]
    """The kinds, in the order in which they first appear."""
    tokens: np.ndarray
    """(N,) int32, numbers of words, one sentence after the other."""
    starts: np.ndarray
    """(M + 1,) int64, where each sentence begins; the last is N."""

    @cached_property
    def lengths(self) -> np.ndarray:
        """(M,) words in each sentence."""
        return np.diff(self.starts)

    @cached_property
    def counts(self) -> np.ndarray:
        """(V,) occurrences of each word."""
        return np.bincount(self.tokens, minlength=len(self.words))


@dataclass(frozen=True)
class Bitext:
    """Two sides with the same number of sentences."""

    source: Side
    target: Side

    def blocks(self, links: int) -> Iterator[slice]:
        """Runs of sentences with about so many pairs of a source and a target position."""
        total = np.cumsum(self.source.lengths * self.target.lengths)
        first = 0
        while first < len(total):
            before = total[first - 1] if first else 0
            last = max(first + 1, int(np.searchsorted(total, before + links, side="right")))
            yield slice(first, last)
            first = last

    def links(self, sentences: slice) -> tuple[np.ndarray, np.ndarray]:
        """Every pair of a source and a target position of the same sentence, as indices of tokens.

        Returns:
            two arrays (L,) int64, L = Σ source length · target length.
        """
        rows, columns = self.source.lengths[sentences], self.target.lengths[sentences]
        sizes = rows * columns
        place = np.arange(sizes.sum()) - np.repeat(np.cumsum(sizes) - sizes, sizes)
        row, column = np.divmod(place, np.repeat(columns, sizes))
        row += np.repeat(self.source.starts[sentences], sizes)
        column += np.repeat(self.target.starts[sentences], sizes)
        return row, column


def make_side(lines: Iterable[str]) -> Side:
    """The words of tokenised lines, which white space separates."""
    numbers: dict[str, int] = {}
    tokens: list[int] = []
    starts = [0]
    for line in lines:
        tokens.extend(numbers.setdefault(word, len(numbers)) for word in line.split())
        starts.append(len(tokens))
    return Side(list(numbers), np.array(tokens, np.int32), np.array(starts, np.int64))


def read_bitext(source: Path | str, target: Path | str) -> Bitext:
    """Two tokenised files, line beside line.

    Raises:
        InputError: unequal numbers of lines, a side without a word, text that is not UTF-8.
    """
    check_equal_counts(source, target)
    sides = []
    for path in (source, target):
        side = make_side(read_lines(path))
        if not side.words:
            raise InputError(f"{path} has no word in it: give the two sides of parallel text")
        sides.append(side)
    return Bitext(*sides)
