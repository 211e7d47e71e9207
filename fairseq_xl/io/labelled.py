"""Labelled text as it is published: one reader for its many shapes, described by a short line.

    FILE[,KEY=VALUE]…        reviews.csv,text=review,class=stars,encoding=cp1252,classes=map.tsv

=========  ============================================================================================
format     tsv (default), csv, jsonl, spaces (label, blanks, text) or lines (text alone); else by suffix
class      column of the class: a number from 1, or a name of the first row or a JSON key (default: 1, label)
text       column of the text (default: 2, text)
labels     file with one label a line, beside a file with one text a line
label      the one class of every text; a file that is not .csv, .jsonl or of a stated text= holds text alone
classes    file that maps labels to class names: two columns, separated by tabs
encoding   of the file (default: by its mark or its bytes, and then said)
escapes    json: texts hold ``\\u2019`` and ``\\"`` for what they mean, as some published tweets do (default: none)
split      train (default), valid or test
=========  ============================================================================================
"""

from __future__ import annotations

import codecs
import csv
import io
import json
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from fairseq_xl.io import file_settings
from fairseq_xl.io.errors import InputError
from fairseq_xl.io.fetch import MOST_GROWTH
from fairseq_xl.io.json_text import loads
from fairseq_xl.io.lines import BROKEN_GZIP, open_binary
from fairseq_xl.io.packages import require

FORMATS = ("tsv", "csv", "jsonl", "spaces", "lines")
KEYS = ("format", "class", "text", "labels", "label", "classes", "encoding", "escapes", "split")
SMALL = 64 << 20
"""Bytes that a packed file may unpack to whatever its own size."""
ESCAPES = ("none", "json")
SPLITS = ("train", "valid", "test")
SUFFIXES = {".csv": "csv", ".jsonl": "jsonl", ".ndjson": "jsonl"}
MARKS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),  # before UTF-16's, which is how it begins
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)


@dataclass(frozen=True)
class Example:
    """A text, the name of its class, and where it stood."""

    text: str
    label: str
    where: str


@dataclass(frozen=True)
class Source:
    """A file of labelled text and how to read it; keys as in the module's table."""

    path: Path
    options: dict[str, str]

    @classmethod
    def parse(cls, line: str) -> Source:
        """Raises: InputError: an unknown key, or keys that exclude each other."""
        path, options = file_settings.parse(line, KEYS, {"format": FORMATS, "split": SPLITS, "escapes": ESCAPES})
        given = [key for key in ("labels", "label", "class") if key in options]
        if len(given) > 1:
            raise InputError(f"{line!r}: give one of {' and '.join(given)}")
        if "labels" in options and ("text" in options or options.get("format", "lines") != "lines"):
            raise InputError(f"{line!r}: labels= goes with lines of text alone, without text= and format=")
        return cls(Path(path), options)

    @property
    def split(self) -> str:
        return self.options.get("split", "train")

    @property
    def format(self) -> str:
        if "format" in self.options or "labels" in self.options:
            return self.options.get("format", "lines")
        alone = "label" in self.options and "text" not in self.options
        return SUFFIXES.get(
            self.path.with_suffix("").suffix if self.path.suffix == ".gz" else self.path.suffix,
            "lines" if alone else "tsv",
        )

    def examples(self) -> Iterator[Example]:
        """The texts with their class names, in the file's order; those whose text is blank as well.

        Raises:
            InputError: a file that is missing, torn or in another encoding; a line without the column; numbers of
                labels and texts that differ; a label that the map lacks.
        """
        names = read_map(Path(self.options["classes"])) if "classes" in self.options else None
        for text, label, where in self._rows():
            label = label.strip()
            if names is not None:
                if label not in names:
                    raise InputError(f"{where}: the label {label!r} is not in {self.options['classes']}: add it there")
                label = names[label]
            elif not label:
                raise InputError(f"{where}: the label is empty")
            if self.options.get("escapes") == "json":
                text = unescaped(text)
            yield Example(text, label, where)

    def _rows(self) -> Iterator[tuple[str, str, str]]:
        lines = list(numbered(read_text(self.path, self.options.get("encoding"))))
        if "labels" in self.options:
            labels_path = Path(self.options["labels"])
            labels = list(numbered(read_text(labels_path)))
            if len(labels) != len(lines):
                raise InputError(f"{labels_path} has {len(labels)} labels for the {len(lines)} lines of {self.path}")
            for (n, text), (_, label) in zip(lines, labels, strict=True):
                yield text, label, f"{self.path}, line {n}"
        elif self.format == "lines":
            if "label" not in self.options:
                raise InputError(f"{self.path}: lines of text alone need labels=FILE or label=CLASS")
            for n, text in lines:
                yield text, self.options["label"], f"{self.path}, line {n}"
        else:
            reader = {"tsv": self._tsv, "csv": self._csv, "jsonl": self._jsonl, "spaces": self._spaces}[self.format]
            for text, label, where in reader(lines):
                yield text, self.options.get("label", label), where

    def _spaces(self, lines: list[tuple[int, str]]) -> Iterator[tuple[str, str, str]]:
        for n, line in lines:
            label, *text = line.split(None, 1) or [""]
            if label:
                yield text[0] if text else "", label, f"{self.path}, line {n}"

    def _tsv(self, lines: list[tuple[int, str]]) -> Iterator[tuple[str, str, str]]:
        yield from self._columns((n, line.split("\t")) for n, line in lines if line.strip())

    def _csv(self, lines: list[tuple[int, str]]) -> Iterator[tuple[str, str, str]]:
        reader = csv.reader(io.StringIO("\n".join(line for _, line in lines)), strict=True)
        try:
            yield from self._columns((reader.line_num, row) for row in reader if row)
        except csv.Error as error:
            raise InputError(f"{self.path}, line {reader.line_num}: not CSV ({error})") from None

    def _columns(self, rows: Iterator[tuple[int, list[str]]]) -> Iterator[tuple[str, str, str]]:
        default = ("label", "text") if self.format == "csv" else ("1", "2")
        chosen = [] if "label" in self.options else [self.options.get("class", default[0])]
        chosen.append(self.options.get("text", default[1]))
        where = None
        for n, row in rows:
            if where is None:
                where = [self._column(name, row) for name in chosen]
                if not all(name.isdigit() for name in chosen):
                    continue
            if max(where) >= len(row):
                raise InputError(f"{self.path}, line {n}: {len(row)} columns, but column {max(where) + 1} is wanted")
            yield row[where[-1]], row[where[0]], f"{self.path}, line {n}"

    def _column(self, name: str, first: list[str]) -> int:
        if name.isdigit() and int(name) > 0:
            return int(name) - 1
        if name not in first:
            raise InputError(
                f"{self.path}: no column {name!r} in its first row ({', '.join(first)}): name class= and text="
            )
        return first.index(name)

    def _jsonl(self, lines: list[tuple[int, str]]) -> Iterator[tuple[str, str, str]]:
        text = self.options.get("text", "text")
        keys = [text] if "label" in self.options else [self.options.get("class", "label"), text]
        for n, line in lines:
            if not line.strip():
                continue
            try:
                record = loads(line)
                values = {key: record[key] for key in keys}
            except (ValueError, TypeError, KeyError) as error:
                raise InputError(
                    f"{self.path}, line {n}: not a JSON object with {' and '.join(map(repr, keys))} ({error!r})"
                ) from None
            for key, value in values.items():
                where = f"{self.path}, line {n}: {key!r}"
                if value is None or isinstance(value, list | dict):
                    raise InputError(f"{where} is {json.dumps(value)}: give text or a number, or leave the line out")
                if any("\ud800" <= character <= "\udfff" for character in str(value)):
                    raise InputError(f"{where} has half a surrogate pair, which is no character: leave it out")
            yield str(values[text]), str(values[keys[0]]), f"{self.path}, line {n}"


def unescaped(text: str) -> str:
    """What JSON's escapes in a text stand for; half a surrogate pair, which is no character, stays as it is."""
    return _ESCAPE.sub(_character, text)


_ESCAPE = re.compile(
    r"\\(?:u([dD][89abAB][0-9a-fA-F]{2})\\u([dD][c-fC-F][0-9a-fA-F]{2})|u([0-9a-fA-F]{4})|([nrt\"\\/]))"
)


def _character(found: re.Match[str]) -> str:
    high, low, single, letter = found.groups()
    if high:
        return bytes.fromhex(high + low).decode("utf-16-be")
    if single:
        return found[0] if 0xD800 <= int(single, 16) < 0xE000 else chr(int(single, 16))
    return {"n": "\n", "r": "\r", "t": "\t"}.get(letter, letter)


def numbered(text: str) -> Iterator[tuple[int, str]]:
    """Lines and their numbers; a line ends at ``\\n`` alone (or ``\\r\\n``), as in ``text.lines``."""
    lines = text.split("\n")
    if lines[-1] == "":
        lines.pop()
    for n, line in enumerate(lines, start=1):
        yield n, line.removesuffix("\r")


def read_text(path: Path, encoding: str | None = None) -> str:
    """A whole file, in the encoding stated, marked, or else found by its bytes: UTF-8 where it is valid.

    What is neither marked nor UTF-8 is guessed by charset-normalizer, and the guess is said on stderr.

    Raises:
        InputError: no such file; one that unpacks to far more than its size; bytes that the stated encoding does not
            have; an unknown encoding; no guess.
    """
    try:
        with open_binary(path) as stream:
            raw = b"".join(_blocks(stream, path))
    except BROKEN_GZIP as error:
        raise InputError(f"{path}: not a complete gzip file ({error}); fetch it again") from None
    if encoding is None:
        encoding = next((name for mark, name in MARKS if raw.startswith(mark)), None)
    try:
        return raw.decode(encoding or "utf-8").removeprefix("\ufeff")
    except LookupError:
        raise InputError(f"{path}: there is no encoding {encoding!r}; iso-8859-1 and cp1252 are some") from None
    except UnicodeDecodeError as error:
        if encoding is not None:
            line = raw.count(b"\n", 0, error.start) + 1
            raise InputError(
                f"{path}, line {line}: byte 0x{raw[error.start]:02x} is not valid {encoding}: state another encoding="
            ) from None
    return _guessed(path, raw)


def _blocks(stream: BinaryIO, path: Path) -> Iterator[bytes]:
    most = max(SMALL, MOST_GROWTH * path.stat().st_size) if path.suffix == ".gz" else sys.maxsize
    read = 0
    while block := stream.read(1 << 20):
        read += len(block)
        if read > most:
            raise InputError(f"{path}: refused, it unpacks to over {MOST_GROWTH} times its size; unpack it yourself")
        yield block


def _guessed(path: Path, raw: bytes) -> str:
    try:
        matches = require("charset_normalizer", "siamese").from_bytes(raw)
    except InputError as error:
        raise InputError(f"{path} is not UTF-8: state its encoding=; to guess it, {error}") from None
    best = matches.best()
    if best is None:
        raise InputError(f"{path} is not UTF-8 and no other encoding fits: is it text? Else state its encoding=")
    # Encodings of Latin letters differ in few of them and score alike, so that "señor" came out as "seńor".
    near = {
        name
        for match in matches
        if match.chaos <= best.chaos + 0.1 and match.coherence >= best.coherence - 0.06
        for name in (match.encoding, *match.could_be_from_charset)
    }
    encoding = next((name for name in ("cp1252", "latin_1") if name in near), best.encoding)
    print(f"{path} is not UTF-8: read as {encoding}; state encoding= if that is wrong", file=sys.stderr)
    return raw.decode(encoding)


def read_map(path: Path) -> dict[str, str]:
    """Label to class name, from the first two columns of a file separated by tabs.

    Raises:
        InputError: a line without two columns, or a label given twice.
    """
    names: dict[str, str] = {}
    for n, line in numbered(read_text(path)):
        if not line.strip():
            continue
        label, *rest = (cell.strip() for cell in line.split("\t"))
        if not rest or not rest[0] or label in names:
            raise InputError(f"{path}, line {n}: expected a new label, a tab and a class name")
        names[label] = rest[0]
    if not names:
        raise InputError(f"{path} maps no label")
    return names
