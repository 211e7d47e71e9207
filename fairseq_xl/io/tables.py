"""Tables of text as they are published: one reader for their many shapes, described by a short line.

    FILE[,KEY=VALUE]…        reviews.csv,text=review,class=stars,encoding=cp1252

=========  ============================================================================================
format     tsv (quotes mean nothing), csv (quotes as in RFC 4180), jsonl (JSON objects), spaces (a cell,
           blanks, the rest) or lines (one cell). Default: by the suffix, else tsv
encoding   of the file (default: by its mark or its bytes, and reported)
split      train (default), valid or test
=========  ============================================================================================

A column is a number from 1, or a name of the first row; in lines of JSON it is a key. Which columns there are, and
what else may be set, is for the kinds of tables to say: :mod:`.labelled` and :mod:`fairseq_xl.pairs.data.source`.
"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar, Self

from fairseq_xl.io.atomic import atomic_text
from fairseq_xl.io.errors import InputError
from fairseq_xl.io.json_files import loads
from fairseq_xl.io.lines import numbered_lines, read_lines, read_text

FORMATS = ("tsv", "csv", "jsonl", "spaces", "lines")
SPLITS = ("train", "valid", "test")
_SUFFIXES = {".csv": "csv", ".jsonl": "jsonl", ".ndjson": "jsonl"}


def parse_settings(
    line: str, keys: Collection[str], choices: Mapping[str, Collection[str]] | None = None
) -> tuple[Path, dict[str, str]]:
    """A file and its settings, as an option gives them: ``FILE[,KEY=VALUE]…``.

    Args:
        line: as the user gives it.
        keys: that are known.
        choices: the values that a key may have.

    Raises:
        InputError: a setting that is not KEY=VALUE with one of the keys, or another value than a key may have.
    """
    path, *settings = line.split(",")
    found: dict[str, str] = {}
    for setting in settings:
        key, equals, value = setting.partition("=")
        if key not in keys or not equals or not value:
            raise InputError(f"{line!r}: {setting!r} is not KEY=VALUE with a key of {', '.join(keys)}")
        if key in found:
            raise InputError(f"{line!r} gives {key} twice: give it once")
        found[key] = value
    for key, known in (choices or {}).items():
        if key in found and found[key] not in known:
            raise InputError(f"{line!r}: {key} is one of {', '.join(known)}, not {found[key]!r}")
    return Path(path), found


@dataclass(frozen=True)
class Row:
    """A row of a table.

    Attributes:
        number: of its line, from 1; of the last one where quotes hold several.
        cells: all of them, as they were written.
        places: of the columns that were asked for, among the cells.
        names: the row names the columns.
    """

    number: int
    cells: list[str]
    places: list[int]
    names: bool = False

    @property
    def chosen(self) -> list[str]:
        """The cells that were asked for."""
        return [self.cells[place] for place in self.places]


@dataclass(frozen=True)
class Table:
    """A file and how to read it; keys as in the module's table."""

    path: Path
    options: dict[str, str]

    FORMATS: ClassVar[Collection[str]] = FORMATS
    KEYS: ClassVar[tuple[str, ...]] = ()
    """What the kind of table has beside format, encoding and split."""
    CHOICES: ClassVar[Mapping[str, Collection[str]]] = {}

    @classmethod
    def parse(cls, line: str) -> Self:
        """Raises: InputError: an unknown key or value."""
        choices = {"format": cls.FORMATS, "split": SPLITS, **cls.CHOICES}
        return cls(*parse_settings(line, (*cls.KEYS, "format", "encoding", "split"), choices))

    @property
    def split(self) -> str:
        return self.options.get("split", "train")

    @property
    def format(self) -> str:
        path = self.path.with_suffix("") if self.path.suffix == ".gz" else self.path
        return self.options.get("format", _SUFFIXES.get(path.suffix, "tsv"))

    def lines(self) -> Iterator[tuple[int, str]]:
        """The file's lines and their numbers. Raises: InputError: what :func:`~.lines.read_text` raises."""
        return numbered_lines(read_text(self.path, self.options.get("encoding")))

    def rows(
        self, columns: Mapping[str, str], even: bool = False, most: int | None = None
    ) -> Iterator[tuple[str, dict[str, str]]]:
        """The rows in the file's order: where each stands, for messages, and its chosen cells.

        Args:
            columns: the option that chooses a cell, and the column.
            even: every row has as many cells as the first; without it blank lines are passed over.
            most: cells that a row may have.

        Raises:
            InputError: a file that is missing, torn, in another encoding or another format; a column that is not
                there; uneven or too long rows.
        """
        chosen = list(columns.values())
        if self.format == "jsonl":
            rows = self._json_rows(chosen)
        else:
            cells = _csv_cells(self.path, self.lines()) if self.format == "csv" else self._cells(even)
            rows = _with_places(self.path, cells, chosen, even)
        for row in rows:
            if most and len(row.cells) > most:
                keys = " and ".join(f"{key}=" for key in columns)
                raise InputError(
                    f"{self.path}, line {row.number}: {len(row.cells)} columns instead of {most}: name yours with "
                    f"{keys}, or take tabs out of the text"
                )
            if not row.names:
                yield f"{self.path}, line {row.number}", dict(zip(columns, row.chosen, strict=True))

    def _cells(self, even: bool) -> Iterator[tuple[int, list[str]]]:
        for number, line in self.lines():
            if self.format == "lines":
                yield number, [line]
            elif even or line.strip():
                yield number, line.split("\t") if self.format == "tsv" else [*line.split(None, 1), ""][:2]

    def _json_rows(self, keys: Sequence[str]) -> Iterator[Row]:
        for number, line in self.lines():
            if not line.strip():
                continue
            where = f"{self.path}, line {number}"
            try:
                record = loads(line)
                values = [record[key] for key in keys]
            except (ValueError, TypeError, KeyError) as error:
                names = " and ".join(map(repr, keys))
                raise InputError(f"{where}: not a JSON object with {names} ({error!r})") from None
            for key, value in zip(keys, values, strict=True):
                if value is None or isinstance(value, list | dict):
                    raise InputError(
                        f"{where}: {key!r} is {json.dumps(value)}: give text or a number, or leave the line out"
                    )
                if any("\ud800" <= character <= "\udfff" for character in str(value)):
                    raise InputError(f"{where}: {key!r} has half a surrogate pair, which is no character: leave it out")
            yield Row(number, list(map(str, values)), list(range(len(values))))


def stream_rows(path: Path, columns: Sequence[str], even: bool = True) -> Iterator[Row]:
    """The rows of a tab-separated UTF-8 file of any size, read line by line; the row of names, too.

    Args:
        columns: numbers from 1, or names of the first row.
        even: as in :meth:`Table.rows`.

    Raises:
        InputError: as there, and for a CSV file.
    """
    if path.name.endswith((".csv", ".csv.gz")):
        raise InputError(f"{path}: quoted CSV is not read here: convert it to tab-separated columns")
    rows = ((number, line.split("\t")) for number, line in enumerate(read_lines(path), start=1))
    return _with_places(path, rows, columns, even)


def write_tsv(path: Path, names: Sequence[str], rows: Iterable[Iterable[object]]) -> None:
    """Names of columns and a row a line, nothing quoted; what is None is empty."""
    with atomic_text(path) as stream:
        stream.write("\t".join(names) + "\n")
        for row in rows:
            stream.write("\t".join("" if cell is None else str(cell) for cell in row) + "\n")


def _csv_cells(path: Path, lines: Iterable[tuple[int, str]]) -> Iterator[tuple[int, list[str]]]:
    reader = csv.reader(io.StringIO("\n".join(line for _, line in lines)), strict=True)
    try:
        yield from ((reader.line_num, row) for row in reader if row)
    except csv.Error as error:
        raise InputError(
            f"{path}, line {reader.line_num}: not CSV ({error}): state format=tsv where quotes mean nothing"
        ) from None


def _with_places(
    path: Path, rows: Iterable[tuple[int, list[str]]], columns: Sequence[str], even: bool
) -> Iterator[Row]:
    """Rows and where their chosen columns are, which the first row settles."""
    named = not all(map(_is_number, columns))
    places: list[int] = []
    width = last = -1
    for number, cells in rows:
        if first := width < 0:
            places = [_place(f"{path}, line {number}", column, cells) for column in columns]
            width, last = len(cells), max(places)
        if even and len(cells) != width:
            raise InputError(
                f"{path}, line {number}: {len(cells)} columns where the first line has {width}: is there a tab or a "
                "quote inside a sentence?"
            )
        if last >= len(cells):
            raise InputError(f"{path}, line {number}: {len(cells)} columns, but column {last + 1} is wanted")
        yield Row(number, cells, places, first and named)


def _is_number(column: str) -> bool:
    return column.isdecimal() and len(column) < 10


def _place(where: str, column: str, first: list[str]) -> int:
    if not _is_number(column):
        if column not in first:
            raise InputError(
                f"{where}: there is no column {column!r} among {', '.join(first)}: name one of these, or name it in "
                "the first line"
            )
        return first.index(column)
    if not 1 <= int(column) <= len(first):
        raise InputError(f"{where}: {len(first)} columns, but column {column} is wanted")
    return int(column) - 1
