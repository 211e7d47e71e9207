"""Pairs of sentences as they are published, described by a short line.

    FILE[,KEY=VALUE]…        train.tsv,left=question1,right=question2,label=is_duplicate

==================  ===================================================================================
left, right         columns of the two sentences: numbers from 1, or names of the first row (default: 1 and 2)
label               column of the label, 0 or 1 (default: 3); ``none`` for pairs without one
score               column of a graded similarity, any number, which `pairs similarity` reads instead of a label
left_translation,   columns of their translations, which label transfer reads (default: none)
right_translation
languages           of left and right, such as en+fr: words of either are told apart, en:chat from fr:chat
fold                column of the fold, a number from 0 (default: folds are made from the sentences)
format              tsv (default; quotes mean nothing) or csv (default of ``.csv``; quotes as in RFC 4180)
encoding            of the file (default: by its mark or its bytes, and then said)
split               train (default), valid or test
==================  ===================================================================================
"""

from __future__ import annotations

import csv
import io
import math
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from fairseq_xl.io import file_settings
from fairseq_xl.io.errors import InputError
from fairseq_xl.io.labelled import PARTS, numbered, read_text

FORMATS = ("tsv", "csv")
COLUMNS = ("left", "right", "label", "score", "left_translation", "right_translation", "fold")
KEYS = (*COLUMNS, "languages", "format", "encoding", "split")
LANGUAGES = re.compile(r"([a-z][\w-]*)\+([a-z][\w-]*)")
DEFAULTS = {"left": "1", "right": "2", "label": "3"}


@dataclass(frozen=True)
class Pair:
    """Two sentences as they were written.

    Attributes:
        left, right: never blank.
        label: 1 where they mean the same, 0 where not, None where nobody said.
        translations: of left and right, where the file has them.
        fold: where the file says it.
        score: a graded similarity, where the file has one.
        where: file and line, for messages.
    """

    left: str
    right: str
    label: int | None
    translations: tuple[str, str] | None
    where: str
    fold: int | None = None
    score: float | None = None


@dataclass(frozen=True)
class PairSource:
    """A file of pairs and how to read it; keys as in the module's table."""

    path: Path
    options: dict[str, str]

    @classmethod
    def parse(cls, line: str) -> PairSource:
        """Raises: InputError: an unknown key or value, or one translation without the other."""
        path, options = file_settings.parse(line, KEYS, {"format": FORMATS, "split": PARTS})
        if "languages" in options and not LANGUAGES.fullmatch(options["languages"]):
            raise InputError(f"{line!r}: languages are two codes, such as en+fr")
        if ("left_translation" in options) != ("right_translation" in options):
            raise InputError(f"{line!r}: give left_translation and right_translation, or neither")
        return cls(Path(path), options)

    @property
    def split(self) -> str:
        return self.options.get("split", "train")

    @property
    def languages(self) -> tuple[str, str] | None:
        """Of the two sides, where the source says them."""
        found = LANGUAGES.fullmatch(self.options.get("languages", ""))
        return (found[1], found[2]) if found else None

    @property
    def format(self) -> str:
        suffix = self.path.with_suffix("").suffix if self.path.suffix == ".gz" else self.path.suffix
        return self.options.get("format", "csv" if suffix == ".csv" else "tsv")

    def pairs(self) -> Iterator[Pair]:
        """The file's pairs in its order.

        Raises:
            InputError: a file that is missing or in another encoding; a line with more or fewer columns than the
                first; a column that is not there; a label that is neither 0 nor 1; a score that is no number; a blank
                sentence.
        """
        chosen = {**DEFAULTS, **{key: self.options[key] for key in COLUMNS if key in self.options}}
        if chosen["label"] == "none" or ("score" in chosen and "label" not in self.options):
            del chosen["label"]
        places: dict[str, int] | None = None
        width = 0
        for number, row in self._rows():
            where = f"{self.path}, line {number}"
            if places is None:
                places = {key: self._place(key, name, row) for key, name in chosen.items()}
                width = len(row)
                if not all(name.isdigit() for name in chosen.values()):
                    continue
            if len(row) != width:
                raise InputError(
                    f"{where}: {len(row)} columns where the first line has {width}: is there a tab or a quote inside "
                    "a sentence?"
                )
            cells = {key: row[place].strip() for key, place in places.items()}
            yield self._pair(cells, where)

    def _rows(self) -> Iterator[tuple[int, list[str]]]:
        lines = numbered(read_text(self.path, self.options.get("encoding")))
        if self.format == "tsv":
            yield from ((number, line.split("\t")) for number, line in lines)
            return
        reader = csv.reader(io.StringIO("\n".join(line for _, line in lines)), strict=True)
        try:
            yield from ((reader.line_num, row) for row in reader if row)
        except csv.Error as error:
            raise InputError(
                f"{self.path}, line {reader.line_num}: not CSV ({error}): state format=tsv where quotes mean nothing"
            ) from None

    def _place(self, key: str, name: str, first: list[str]) -> int:
        if name.isdigit() and int(name) > 0:
            if int(name) > len(first):
                raise InputError(
                    f"{self.path}, line 1: {len(first)} columns, but {key}={name} is wanted: name the columns"
                )
            return int(name) - 1
        if name not in first:
            raise InputError(
                f"{self.path}, line 1: there is no column {name!r} among {', '.join(first)}: name it with {key}="
            )
        return first.index(name)

    @staticmethod
    def _pair(cells: dict[str, str], where: str) -> Pair:
        for key in COLUMNS:
            if key != "label" and cells.get(key) == "":
                raise InputError(f"{where}: the {key.replace('_', ' ')} is empty: leave the pair out")
        fold = cells.get("fold")
        if fold is not None and not fold.isdecimal():
            raise InputError(f"{where}: the fold is {fold!r}, not a number from 0")
        label = cells.get("label")
        if label not in ("0", "1", None):
            raise InputError(f"{where}: the label is {label!r}, not 0 or 1")
        try:
            score = float(cells["score"]) if "score" in cells else None
        except ValueError:
            score = math.nan
        if score is not None and not math.isfinite(score):
            raise InputError(f"{where}: the score is {cells['score']!r}, not a number")
        translations = (cells["left_translation"], cells["right_translation"]) if "left_translation" in cells else None
        return Pair(
            cells["left"],
            cells["right"],
            None if label is None else int(label),
            translations,
            where,
            None if fold is None else int(fold),
            score,
        )
