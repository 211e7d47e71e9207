"""The text format of word vectors (.vec, .txt, either gzipped): one line ``word x1 … xd`` per word.

A first line ``n d`` is a header, as fastText and word2vec write it; GloVe's files have none. Released files hold
two million lines of two kilobytes each, of which a model needs a few thousand: lines are streamed, every line's
columns are counted, and only the numbers of a wanted word are parsed and kept.
"""

from __future__ import annotations

import gzip
import io
import itertools
import os
import re
import zlib
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import BinaryIO

import numpy as np
from tqdm import tqdm

from fairseq_xl.errors import InputError
from fairseq_xl.vectors.checks import RowCheck

_GZIP_MAGIC = b"\x1f\x8b"
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"
_BLANK = b" \r\n\t"
# What tells a vector's component from the last part of a word that has spaces in it ("Route 66").
_COMPONENT = re.compile(rb"[+-]?\d+\.\d+(e[+-]?\d+)?", re.IGNORECASE)
_LINES_PER_PROGRESS_STEP = 4096


def read_text(
    path: Path, wanted: Collection[str] | None, dim: int | None, progress: bool
) -> tuple[list[str], np.ndarray, int]:
    """Read the wanted words' rows (all rows when ``wanted`` is None) in the file's order.

    Returns the words, their matrix (n, d) in float32 and how many repeated lines were passed over.
    Raises InputError for whatever makes the file unusable, with the number of the line.
    """
    wanted = None if wanted is None else frozenset(wanted)
    words: list[str] = []
    seen: set[str] = set()
    line_numbers: list[int] = []
    repeated = 0
    number = rows = blank_line = 0
    tabs = False  # whether columns are separated by tabs; the first row tells

    lines = _numbered_lines(path, progress)
    first = next(lines, None)
    if first is None or not first[1].strip():
        raise InputError(f"{path} is empty where its first line should be: it holds no vectors")
    announced, width = _header(path, first[1])
    if announced is None:
        lines = itertools.chain([first], lines)
        width = _dimension_without_header(path, first[1])
    if dim is not None and width != dim:
        raise InputError(f"{path} holds vectors of dimension {width}, but dimension {dim} is needed")
    matrix = np.empty((0, width), dtype=np.float32)

    for number, line in lines:
        line = line.rstrip(_BLANK)
        if not line:
            blank_line = blank_line or number
            continue
        if blank_line:
            raise InputError(f"{path}, line {blank_line} is empty: remove it, or fetch the file again")
        if rows == 0:
            tabs = b"\t" in line
        if tabs:
            line = line.replace(b"\t", b" ")
        rows += 1
        if line.count(b" ") == width:
            end = line.index(b" ")
        else:
            end = _end_of_word(path, number, line, width)
        try:
            word = line[:end].decode()
        except UnicodeDecodeError as error:
            raise InputError(
                f"{path}, line {number} is not valid UTF-8: convert the file to UTF-8 first"
            ) from error
        if wanted is not None and word not in wanted:
            continue
        if word in seen:
            repeated += 1
            continue
        if len(words) == len(matrix):
            # Doubling in place (realloc) keeps the peak near one copy of the table.
            matrix.resize((max(1024, 2 * len(words)), width), refcheck=False)
        matrix[len(words)] = _components(path, number, word, line[end:], width)
        words.append(word)
        seen.add(word)
        line_numbers.append(number)

    if rows == 0:
        raise InputError(f"{path} is empty: it holds no vectors")
    if announced is not None and rows < announced:
        raise InputError(
            f"{path} is truncated: its header announces {announced} words, but it ends after {rows} "
            f"(line {number}): fetch or write it again"
        )
    matrix.resize((len(words), width), refcheck=False)
    RowCheck(path, place=lambda row: f"line {line_numbers[row]}").check(words, matrix)
    return words, matrix, repeated


def write_text(path: Path, stream: BinaryIO, words: list[str], matrix: np.ndarray, progress: bool) -> None:
    """Write a header and one line per word; nine digits, so that reading gives the same float32 again.

    ``path`` only names the file in messages and in the progress bar.
    """
    for word in words:
        if not _reads_back(word):
            raise InputError(
                f"the word {word!r} cannot be written to {path.name}, a text file: write a .npy instead"
            )
    stream.write(f"{len(words)} {matrix.shape[1]}\n".encode())
    form = " %.9g" * matrix.shape[1] + "\n"
    rows = tqdm(words, desc=f"writing {path.name}", unit=" words", delay=1, disable=not progress)
    for word, row in zip(rows, matrix, strict=True):
        stream.write((word + form % tuple(row.tolist())).encode())


def _reads_back(word: str) -> bool:
    """Whether a line that starts with this word would be read as this word again."""
    data = word.encode()
    last = data.rsplit(b" ", 1)[-1]
    return bool(data) and data == data.strip() and not set(b"\n\r\t\0") & set(data) and not (
        b" " in data and (b"  " in data or _COMPONENT.fullmatch(last))
    )


def _numbered_lines(path: Path, progress: bool) -> Iterator[tuple[int, bytes]]:
    """The file's lines, unpacked if gzipped, with a bar that counts the bytes read from the disk."""
    number = 0
    with open(path, "rb", buffering=1 << 20) as raw:
        start = raw.peek(4096)
        packed = start[:2] == _GZIP_MAGIC
        if path.suffix == ".gz" and not packed:
            raise InputError(f"{path} is not a gzip file, whatever its name says: fetch it again")
        if not packed and b"\0" in start[:4096]:
            raise InputError(f"{path} is binary, not a text file of vectors")
        stream = io.BufferedReader(gzip.GzipFile(fileobj=raw), 1 << 20) if packed else raw
        with tqdm(
            total=os.fstat(raw.fileno()).st_size, desc=f"reading {path.name}", unit="B",
            unit_scale=True, delay=1, disable=not progress,
        ) as bar:  # fmt: skip
            try:
                for number, line in enumerate(stream, 1):
                    if number == 1 and line.startswith(_BYTE_ORDER_MARK):
                        line = line[len(_BYTE_ORDER_MARK) :]
                    if number % _LINES_PER_PROGRESS_STEP == 0:
                        bar.update(raw.tell() - bar.n)
                    yield number, line
            except (EOFError, zlib.error, gzip.BadGzipFile) as error:
                raise InputError(
                    f"{path} is a damaged or truncated gzip file after line {number}: fetch it again"
                ) from error
            bar.update(raw.tell() - bar.n)


def _header(path: Path, line: bytes) -> tuple[int | None, int]:
    """(number of words, dimension) of a header line; (None, 0) when the line is no header."""
    fields = line.split()
    if len(fields) != 2 or not all(field.isdigit() for field in fields):
        return None, 0
    announced, width = int(fields[0]), int(fields[1])
    if width == 0:
        raise InputError(f"{path}, line 1: the header announces vectors of dimension 0")
    return announced, width


def _dimension_without_header(path: Path, line: bytes) -> int:
    """The dimension of a file without a header: its first line must be one word and numbers."""
    fields = line.split()
    stranger = next((field for field in fields[1:] if not _is_number(field)), None)
    if len(fields) < 2 or stranger is not None:
        found = "a single column" if stranger is None else repr(stranger.decode(errors="replace"))
        raise InputError(
            f"{path}, line 1: expected a header 'count dimension' or a word and its numbers, found {found}: "
            "is this a file of word vectors?"
        )
    return len(fields) - 1


def _end_of_word(path: Path, number: int, line: bytes, width: int) -> int:
    """Where the word ends in a line whose number of spaces is not the dimension.

    Such a line is well formed when its word has spaces in it, or when columns stand more than one space apart.
    """
    fields = line.rsplit(None, width)
    if len(fields) <= width:
        raise InputError(
            f"{path}, line {number}: expected a word and {width} numbers, found {len(fields)} columns: "
            "the file is damaged or truncated there"
        )
    word = fields[0].rstrip(b" ")
    inner = word.split()
    if len(inner) > 1 and _COMPONENT.fullmatch(inner[-1]):
        raise InputError(
            f"{path}, line {number}: expected a word and {width} numbers, "
            f"found {len(line.split())} columns"
        )
    return len(word)


def _components(path: Path, number: int, word: str, data: bytes, width: int) -> np.ndarray:
    """Parse one row's numbers."""
    fields = data.split()
    try:
        return np.array(fields, dtype=np.float32)
    except ValueError as error:
        culprit = next((field for field in fields if not _is_number(field)), b"?")
        raise InputError(
            f"{path}, line {number}: {culprit.decode(errors='replace')!r} is not a number "
            f"(in the vector of {word!r})"
        ) from error


def _is_number(field: bytes) -> bool:
    try:
        float(field)
    except ValueError:
        return False
    return True
