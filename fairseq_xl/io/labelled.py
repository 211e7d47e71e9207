"""Labelled text: a :class:`~fairseq_xl.io.tables.Table` with a column of text and one of classes.

    FILE[,KEY=VALUE]…        reviews.csv,text=review,class=stars,encoding=cp1252,classes=map.tsv

=========  ============================================================================================
class      column of the class (default: 1; label in CSV and JSON)
text       column of the text (default: 2; text in CSV and JSON)
labels     file with one label a line, beside a file with one text a line
label      the one class of every text; a file that is not .csv, .jsonl or of a stated text= holds text alone
classes    file that maps labels to class names: two columns, separated by tabs
escapes    json: texts hold ``\\u2019`` and ``\\"`` for what they mean, as some published tweets do (default: none)
format,    as for every table
encoding,
split
=========  ============================================================================================
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar, Self

from fairseq_xl.io.errors import InputError
from fairseq_xl.io.tables import Table


@dataclass(frozen=True)
class Example:
    """A text, the name of its class, and where it stood."""

    text: str
    label: str
    where: str


@dataclass(frozen=True)
class Source(Table):
    """A file of labelled text and how to read it; keys as in the module's table."""

    KEYS: ClassVar[tuple[str, ...]] = ("class", "text", "labels", "label", "classes", "escapes")
    CHOICES: ClassVar = {"escapes": ("none", "json")}

    @classmethod
    def parse(cls, line: str) -> Self:
        """Raises: InputError: an unknown key, or keys that exclude each other."""
        found = super().parse(line)
        given = [key for key in ("labels", "label", "class") if key in found.options]
        if len(given) > 1:
            raise InputError(f"{line!r}: give one of {' and '.join(given)}")
        if "label" in given and found.options.get("format") == "lines" and "text" in found.options:
            raise InputError(f"{line!r}: a line is the text where format=lines: leave text= out")
        if "labels" in given and ("text" in found.options or found.options.get("format", "lines") != "lines"):
            raise InputError(f"{line!r}: labels= goes with lines of text alone, without text= and format=")
        return found

    @property
    def format(self) -> str:
        found = super().format
        alone = "labels" in self.options or ("label" in self.options and "text" not in self.options and found == "tsv")
        return "lines" if alone and "format" not in self.options else found

    def examples(self) -> Iterator[Example]:
        """The texts with their class names, in the file's order; those whose text is blank as well.

        Raises:
            InputError: what :meth:`~.tables.Table.rows` raises; numbers of labels and texts that differ; a label that
                the map lacks; no text.
        """
        names = read_map(Path(self.options["classes"])) if "classes" in self.options else None
        found = False
        for text, label, where in self._labelled():
            found = True
            label = " ".join(label.split())  # a tab or a line break would not survive in a table
            if names is not None:
                if label not in names:
                    raise InputError(f"{where}: the label {label!r} is not in {self.options['classes']}: add it there")
                label = names[label]
            elif not label:
                raise InputError(f"{where}: the label is empty")
            yield Example(unescaped(text) if self.options.get("escapes") == "json" else text, label, where)
        if not found:
            raise InputError(f"{self.path} holds no text: check the file")

    def _labelled(self) -> Iterator[tuple[str, str, str]]:
        """Texts, their labels, and where they stand."""
        if "labels" in self.options:
            labels_path = Path(self.options["labels"])
            lines, labels = (list(table.lines()) for table in (self, Table(labels_path, {})))
            if len(labels) != len(lines):
                raise InputError(f"{labels_path} has {len(labels)} labels for the {len(lines)} lines of {self.path}")
            for (number, text), (_, label) in zip(lines, labels, strict=True):
                yield text, label, f"{self.path}, line {number}"
            return
        if self.format == "lines" and "label" not in self.options:
            raise InputError(f"{self.path}: lines of text alone need labels=FILE or label=CLASS")
        by_name = self.format in ("csv", "jsonl")
        columns = {"class": "label" if by_name else "1", "text": "text" if by_name else "2"}
        columns = {key: self.options.get(key, column) for key, column in columns.items()}
        if "label" in self.options:
            del columns["class"]
        if self.format == "lines":
            columns = {"text": "1"}
        # Where nobody says which columns they are, a table of more would be read by the wrong ones.
        usual = self.format == "tsv" and not {"class", "text", "label"} & set(self.options)
        for where, cells in self.rows(columns, most=2 if usual else None):
            yield cells["text"], self.options.get("label") or cells["class"], where


def read_map(path: Path) -> dict[str, str]:
    """Label to class name, from the first two columns of a file separated by tabs.

    Raises:
        InputError: a line without two columns, or a label given twice.
    """
    names: dict[str, str] = {}
    for where, cells in Table(path, {"format": "tsv"}).rows({"label": "1", "class": "2"}):
        label, name = (cell.strip() for cell in cells.values())
        if not name or label in names:
            raise InputError(f"{where}: expected a new label, a tab and a class name")
        names[label] = name
    if not names:
        raise InputError(f"{path} maps no label")
    return names


_ESCAPE = re.compile(
    r"\\(?:u([dD][89abAB][0-9a-fA-F]{2})\\u([dD][c-fC-F][0-9a-fA-F]{2})|u([0-9a-fA-F]{4})|([nrt\"\\/]))"
)


def unescaped(text: str) -> str:
    """What JSON's escapes in a text stand for; half a surrogate pair, which is no character, stays as it is."""
    return _ESCAPE.sub(_character, text)


def _character(found: re.Match[str]) -> str:
    high, low, single, letter = found.groups()
    if high:
        return bytes.fromhex(high + low).decode("utf-16-be")
    if single:
        return found[0] if 0xD800 <= int(single, 16) < 0xE000 else chr(int(single, 16))
    return {"n": "\n", "r": "\r", "t": "\t"}.get(letter, letter)
