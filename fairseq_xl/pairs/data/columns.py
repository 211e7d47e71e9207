"""Tab-separated files read line by line, of any size: chosen columns, and the rest of each line as it was.

    FILE[,KEY=COLUMN…]       sentences.tsv,text=spanish,translation=english

A column is a number from 1 or a name of the first row. Quotes mean nothing; the encoding is UTF-8.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from fairseq_xl.io import file_settings
from fairseq_xl.io.errors import InputError
from fairseq_xl.io.lines import read_lines


@dataclass(frozen=True)
class Row:
    """A line of a file.

    Attributes:
        number: of the line, from 1.
        cells: of the line, as they were written.
        places: of the columns that were asked for, among the cells.
        names: the line names the columns.
    """

    number: int
    cells: list[str]
    places: list[int]
    names: bool


def parse(line: str, keys: Collection[str]) -> tuple[Path, dict[str, str]]:
    """A file and its settings.

    Raises:
        InputError: a setting that is not KEY=VALUE with one of the keys, or a CSV file.
    """
    path, options = file_settings.parse(line, keys)
    if path.endswith((".csv", ".csv.gz")):
        raise InputError(f"{path}: quoted CSV is not read here: convert it to tab-separated columns")
    return Path(path), options


def rows(path: Path, columns: Sequence[str]) -> Iterator[Row]:
    """The lines of a file, the line of names too.

    Raises:
        InputError: a file that is missing or not UTF-8, a column that is not there, or a line with more or fewer
            columns than the first.
    """
    named = not all(column.isdecimal() for column in columns)
    places: list[int] = []
    width = 0
    for number, line in enumerate(read_lines(path), start=1):
        cells = line.split("\t")
        if number == 1:
            places, width = [_place(path, column, cells) for column in columns], len(cells)
        if len(cells) != width:
            raise InputError(
                f"{path}, line {number}: {len(cells)} columns where the first line has {width}: is there a tab "
                "inside a sentence?"
            )
        yield Row(number, cells, places, named and number == 1)


def _place(path: Path, column: str, first: list[str]) -> int:
    if not column.isdecimal():
        if column not in first:
            raise InputError(f"{path}, line 1: there is no column {column!r} among {', '.join(first)}")
        return first.index(column)
    if not 1 <= int(column) <= len(first):
        raise InputError(f"{path}, line 1: {len(first)} columns, but column {column} is wanted")
    return int(column) - 1
