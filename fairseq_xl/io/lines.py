"""Reading text files line by line, so that line *n* of one stays beside line *n* of
another.

A line ends at ``\\n`` and nowhere else. Python's text mode also ends lines at a lone ``\\r``, and
``str.splitlines`` at NEL, U+2028 and others; web text holds such characters inside sentences, and
one of them shifts a parallel corpus.
"""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Iterable, Iterator
from functools import partial
from pathlib import Path
from typing import BinaryIO

from fairseq_xl.io.errors import InputError

BOM = b"\xef\xbb\xbf"
LONGEST_LINE = 32 << 20
"""Bytes; a whole book has fewer, and a few MB of gzip can hold a line that fills the memory."""
BROKEN_GZIP = (gzip.BadGzipFile, EOFError, zlib.error)


def open_binary(path: Path | str) -> BinaryIO:
    """Open ``path`` for reading bytes, decompressing ``*.gz``.

    Raises :class:`InputError` when it cannot be opened.
    """
    path = Path(path)
    try:
        if path.suffix == ".gz":
            return gzip.open(path, "rb")  # type: ignore[return-value]
        return path.open("rb")
    except FileNotFoundError:
        raise InputError(f"there is no file {path}: check the name") from None
    except OSError as error:
        raise InputError(f"cannot read {path}: {error.strerror}") from None


def too_long(name: Path | str, number: int) -> InputError:
    """What to say of line ``number``."""
    return InputError(f"{name}, line {number} is longer than {LONGEST_LINE:,} bytes: is this a text of lines?")


def _broken_gzip(path: Path | str, error: Exception) -> InputError:
    return InputError(f"{path}: not a complete gzip file ({error}); fetch it again")


def decode_lines(stream: Iterable[bytes], name: Path | str) -> Iterator[str]:
    """Yield the lines of a UTF-8 stream without their ends, each as soon as it is there.

    Drops a BOM at the start, and a ``\\r`` before each ``\\n``. ``stream`` yields lines that end at
    ``\\n``, as files opened for bytes do. Raises :class:`InputError` naming stream and line at the
    first byte that is not UTF-8, and at a line of over ``LONGEST_LINE`` bytes.
    """
    readline = getattr(stream, "readline", None)
    found = stream if readline is None else iter(partial(readline, LONGEST_LINE + 1), b"")
    for number, raw in enumerate(found, start=1):
        if len(raw) > LONGEST_LINE:
            raise too_long(name, number)
        if number == 1 and raw.startswith(BOM):
            raw = raw[len(BOM) :]
        try:
            line = raw.removesuffix(b"\n").removesuffix(b"\r").decode("utf-8")
        except UnicodeDecodeError as error:
            byte = error.object[error.start]
            raise InputError(
                f"{name}, line {number}: byte 0x{byte:02x} is not valid UTF-8; convert the file"
                f" (for example with iconv -f ISO-8859-1 -t UTF-8)"
            ) from None
        yield line


def read_lines(path: Path | str) -> Iterator[str]:
    """Yield the lines of a file as :func:`decode_lines` does; ``*.gz`` is decompressed.

    Raises :class:`InputError` where the file is missing or torn, and naming file and line at the
    first byte that is not UTF-8.
    """
    with open_binary(path) as stream:
        try:
            yield from decode_lines(stream, path)
        except BROKEN_GZIP as error:
            raise _broken_gzip(path, error) from None


def count_lines(path: Path | str) -> int:
    """The number of lines that :func:`read_lines` yields.

    Raises :class:`InputError` for a pipe, too: whoever counts first finds nothing there to read.
    """
    if Path(path).exists() and not Path(path).is_file() and not Path(path).is_dir():
        raise InputError(f"{path} is a pipe, and would have to be read twice: give a file")
    total, last = 0, b"\n"
    with open_binary(path) as stream:
        try:
            while block := stream.read(1 << 20):
                total += block.count(b"\n")
                last = block[-1:]
        except BROKEN_GZIP as error:
            raise _broken_gzip(path, error) from None
    return total + (last != b"\n")
