"""The text format of word vectors (.vec, .txt, either gzipped): one line ``word x1 … xd`` per word.

A first line ``n d`` is a header, as fastText and word2vec write it; GloVe's files have none.
Released files hold two million lines of two kilobytes each. A model needs a few thousand of them. Lines are therefore
streamed, and every line's columns are counted. Only the numbers of a wanted word are parsed and kept.
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

from fairseq_xl.io.errors import InputError
from fairseq_xl.io.lines import LONGEST_LINE, too_long
from fairseq_xl.io.progress import progress_bar
from fairseq_xl.vectors.formats.checks import RowCheck

_GZIP_MAGIC = b"\x1f\x8b"
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"
_BLANK = b" \r\n\t"
_NUMBER = re.compile(rb"[+-]?\d+(\.\d*)?(e[+-]?\d+)?", re.IGNORECASE)
_BLOCK_BYTES = 1 << 18


def read_text(
    path: Path, wanted: Collection[str] | None, dim: int | None, progress: bool
) -> tuple[list[str], np.ndarray, int]:
    """Read the wanted words' rows (all rows when ``wanted`` is None) in the file's order.

    Returns the words, their matrix (n, d) in float32 and how many repeated lines were passed over. Raises InputError,
    with the number of the line, for anything that makes the file unusable.
    """
    rows = _read(path, None if wanted is None else frozenset(wanted), dim, progress)
    return rows.words, rows.finish(), rows.repeated


def read_words(path: Path) -> list[str]:
    """The distinct words in the file's order. Columns are counted, but no number is parsed.

    Raises InputError as :func:`read_text` does, but for what only the numbers show.
    """
    return _read(path, None, None, progress=False, numbers=False).words


def _read(path: Path, wanted: frozenset[str] | None, dim: int | None, progress: bool, numbers: bool = True) -> _Rows:
    blocks = _numbered_blocks(path, progress)
    start, block = next(blocks, (1, [b""]))
    if not block[0].strip():
        raise InputError(f"{path} has nothing on its first line: it holds no vectors")
    announced, width = _header(path, block[0])
    if announced is None:
        width = _dimension_without_header(path, block[0])
    else:
        start, block = 2, block[1:]
    if dim is not None and width != dim:
        raise InputError(f"{path} holds vectors of dimension {width}, but dimension {dim} is needed")
    rows = _Rows(path, wanted, width, numbers)
    last = 1
    with np.errstate(over="ignore"):  # a number beyond float32 becomes infinite, and is then reported
        for number, lines in itertools.chain([(start, block)], blocks):
            rows.take_block(number, lines)
            last = number + len(lines) - 1
    if rows.lines == 0:
        raise InputError(f"{path} is empty: it holds no vectors")
    if announced is not None and rows.lines < announced:
        raise InputError(
            f"{path} is truncated: its header announces {announced} words, but it ends on line {last} "
            f"after {rows.lines} of them: fetch or write it again"
        )
    return rows


class _Rows:
    """The rows kept so far, and the rules for adding the next line."""

    def __init__(self, path: Path, wanted: frozenset[str] | None, width: int, numbers: bool) -> None:
        self.path = path
        self.wanted = wanted
        self.width = width
        self.numbers = numbers
        self.words: list[str] = []
        self.repeated = 0
        self.lines = 0  # with a vector, kept or not
        self._matrix = np.empty((0, width), dtype=np.float32)
        self._seen: set[str] = set()
        self._line_numbers: list[int] = []
        self._blank_line: int | None = None
        self._tabs: bool | None = None  # whether tabs separate columns; the first row tells

    def take_block(self, number: int, block: list[bytes]) -> None:
        """Take consecutive lines, the first of which is line ``number`` of the file."""
        if self.wanted is not None and self._is_regular(block):
            try:
                kept = [
                    (position, line)
                    for position, line in enumerate(block, number)
                    if line[: line.find(b" ")].decode() in self.wanted
                ]
            except UnicodeDecodeError:
                pass  # line by line, the code below names the culprit
            else:
                self.lines += len(block) - len(kept)
                for position, line in kept:
                    self._take_line(position, line)
                return
        for position, line in enumerate(block, number):
            self._take_line(position, line)

    def finish(self) -> np.ndarray:
        """The matrix (n, d) of the rows kept, all of them finite and none zero."""
        self._matrix.resize((len(self.words), self.width), refcheck=False)
        RowCheck(self.path, lambda row: f"line {self._line_numbers[row]}").check(self.words, self._matrix)
        return self._matrix

    def _is_regular(self, block: list[bytes]) -> bool:
        """Whether all lines have one space before each number, so that words end at the first.

        Counting a whole block's spaces at once costs a tenth of counting line by line. Counting line by line would be
        most of the time spent on a line that is not wanted.
        """
        if self._tabs is not False or self._blank_line or not block:
            return False
        spaces_per_line = self.width + block[0].rstrip(b"\r\n").endswith(b" ")
        characters = np.frombuffer(b"".join(block), dtype=np.uint8)
        return int(np.count_nonzero(characters == ord(" "))) == spaces_per_line * len(block)

    def _take_line(self, number: int, line: bytes) -> None:
        line = line.rstrip(_BLANK)
        if not line:
            self._blank_line = self._blank_line or number
            return
        if self._blank_line:
            raise InputError(f"{self.path}, line {self._blank_line} is empty: remove it, or fetch the file again")
        if self._tabs is None:
            self._tabs = b"\t" in line
        if self._tabs:
            line = line.replace(b"\t", b" ")
        self.lines += 1
        regular = line.count(b" ") == self.width
        end = line.index(b" ") if regular else _end_of_word(self.path, number, line, self.width)
        try:
            word = line[:end].decode()
        except UnicodeDecodeError as error:
            raise InputError(
                f"{self.path}, line {number} is not valid UTF-8: convert the file to UTF-8 first"
            ) from error
        if self.wanted is not None and word not in self.wanted:
            return
        if word in self._seen:
            self.repeated += 1
            return
        if self.numbers:
            self._take_numbers(number, word, line[end:])
        self.words.append(word)
        self._seen.add(word)

    def _take_numbers(self, number: int, word: str, columns: bytes) -> None:
        if len(self.words) == len(self._matrix):
            # Doubling in place (realloc) keeps the peak near one copy of the table.
            self._matrix.resize((max(1024, 2 * len(self.words)), self.width), refcheck=False)
        row = _components(self.path, number, word, columns)
        if len(row) != self.width:  # other white space than blanks and tabs
            raise InputError(
                f"{self.path}, line {number}: the vector of {word!r} has {len(row)} numbers, not {self.width}"
            )
        self._matrix[len(self.words)] = row
        self._line_numbers.append(number)


def write_text(
    path: Path, stream: BinaryIO | gzip.GzipFile, words: list[str], matrix: np.ndarray, progress: bool
) -> None:
    """Write a header and one line per word. Nine digits make reading give the same float32 again.

    ``path`` only names the file in messages and in the progress bar.
    """
    for word in words:
        if not _reads_back(word):
            raise InputError(f"the word {word!r} cannot be written to {path.name}, a text file: write a .npy instead")
    stream.write(f"{len(words)} {matrix.shape[1]}\n".encode())
    form = " %.9g" * matrix.shape[1] + "\n"
    with_points = form.replace("%", "%#")  # 1 as 1.00000000: no number, so no part of the word
    with progress_bar(f"writing {path.name}", progress, total=len(words), unit=" words") as bar:
        for word, row in zip(words, matrix, strict=True):
            numbers = (with_points if " " in word else form) % tuple(row.tolist())
            stream.write((word + numbers).encode())
            bar.update()


def _reads_back(word: str) -> bool:
    """Whether a line that starts with this word would be read as this word again."""
    data = word.encode()
    return (
        bool(data)
        and data == data.strip()
        and b"  " not in data
        and not set(b"\n\r\t\0") & set(data)
        and not _ends_like_a_vector(data, row_has_points=True)
    )


def _numbered_blocks(path: Path, progress: bool) -> Iterator[tuple[int, list[bytes]]]:
    """The file's lines in blocks, each with the number of its first line, unpacked if gzipped.

    A bar counts the bytes read from the disk.
    """
    number = 1
    with io.BufferedReader(io.FileIO(path), 1 << 17) as raw:
        start = raw.peek(4096)
        packed = start.startswith(_GZIP_MAGIC)
        if path.suffix == ".gz" and not packed:
            raise InputError(f"{path} is not a gzip file, whatever its name says: fetch it again")
        if not packed and b"\0" in start:
            raise InputError(f"{path} is binary, not a text file of vectors")
        stream = io.BufferedReader(gzip.GzipFile(fileobj=raw), 1 << 17) if packed else raw
        size = os.fstat(raw.fileno()).st_size
        with progress_bar(f"reading {path.name}", progress, total=size, unit="B") as bar:
            while True:
                try:
                    data = stream.read(_BLOCK_BYTES)
                    if data and not data.endswith(b"\n"):
                        rest = stream.readline(LONGEST_LINE)
                        if len(rest) == LONGEST_LINE:
                            raise too_long(path, number + data.count(b"\n"))
                        data += rest
                except (EOFError, zlib.error, gzip.BadGzipFile) as error:
                    raise InputError(
                        f"{path} is a damaged or truncated gzip file (somewhere from line {number} on): fetch it again"
                    ) from error
                if not data:
                    return
                block = io.BytesIO(data).readlines()
                if number == 1:
                    block[0] = block[0].removeprefix(_BYTE_ORDER_MARK)
                bar.update(raw.tell() - bar.n)
                yield number, block
                number += len(block)


def _header(path: Path, line: bytes) -> tuple[int | None, int]:
    """(number of words, dimension) of a header line; (None, 0) when the line is not a header."""
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
    stranger = next((field for field in fields[1:] if not is_number(field)), None)
    if len(fields) < 2 or stranger is not None:
        found = "a single column" if stranger is None else repr(stranger.decode(errors="replace"))
        raise InputError(
            f"{path}, line 1: expected a header 'count dimension' or a word and its numbers, found {found}: "
            "is this a file of word vectors?"
        )
    return len(fields) - 1


def _end_of_word(path: Path, number: int, line: bytes, width: int) -> int:
    """Where the word ends in a line whose number of spaces is not the dimension.

    Such a line is well formed when its word has spaces in it, or when more than one space separates columns.
    """
    fields = line.rsplit(None, width)
    if len(fields) <= width:
        raise InputError(
            f"{path}, line {number}: expected a word and {width} numbers, found {len(fields)} columns: "
            "the file is damaged or truncated there"
        )
    word = fields[0].rstrip(b" ")
    if _ends_like_a_vector(word, b"." in b"".join(fields[1:])):
        raise InputError(
            f"{path}, line {number}: expected a word and {width} numbers, found {len(line.split())} columns"
        )
    return len(word)


def _ends_like_a_vector(word: bytes, row_has_points: bool) -> bool:
    """Whether the last part of a word with spaces in it is rather a number too many.

    "Route 66" before 0.1, 0.2, … is a word. "Route 0.66" there is not, and neither is "Route 66" before 1, 2, ….
    """
    _, space, last = word.rpartition(b" ")
    return bool(space and _NUMBER.fullmatch(last)) and (b"." in last or not row_has_points)


def _components(path: Path, number: int, word: str, data: bytes) -> np.ndarray:
    """Parse one row's numbers."""
    fields = data.split()
    try:
        return np.array(fields, dtype=np.float32)
    except ValueError as error:
        culprit = next((field for field in fields if not is_number(field)), b"?")
        raise InputError(
            f"{path}, line {number}: {culprit.decode(errors='replace')!r} is not a number (in the vector of {word!r})"
        ) from error


def is_number(field: bytes | str) -> bool:
    """Whether a field of a line can be read as a number."""
    try:
        float(field)
    except ValueError:
        return False
    return True
