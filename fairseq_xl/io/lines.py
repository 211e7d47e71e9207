"""Text files: line by line, so that line *n* of one stays beside line *n* of another, or whole, in any encoding.

A line ends at ``\\n`` and nowhere else. Python's text mode also ends lines at a lone ``\\r``, and ``str.splitlines`` at
NEL, U+2028 and others. Web text holds such characters inside sentences, and one of them shifts a parallel corpus.
"""

from __future__ import annotations

import codecs
import gzip
import sys
import zlib
from collections.abc import Iterable, Iterator
from functools import partial
from pathlib import Path
from typing import BinaryIO

from fairseq_xl.io.errors import InputError
from fairseq_xl.io.packages import require

BOM = codecs.BOM_UTF8
BOMS_OF_UTF16 = codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE
MARKS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),  # before UTF-16's, which is how it begins
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
LONGEST_LINE = 32 << 20
"""Bytes; a whole book has fewer, and a few MB of gzip can hold a line that fills the memory."""
MOST_GROWTH = 100
"""Text packs to a tenth; what grows more than this, and is large, is there to fill the memory or the disk."""
SMALL = 64 << 20
"""Bytes that a packed file may unpack to whatever its own size."""
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


def utf8_name(path: Path) -> str:
    """A path as libraries in C++ take it. Raises: InputError: its bytes are no UTF-8."""
    name = str(path)
    if not name.isascii() and name != name.encode("utf-8", "replace").decode("utf-8"):
        raise InputError(f"{path} is no name in UTF-8, and a library here takes no other: rename it")
    return name


def too_long(name: Path | str, number: int) -> InputError:
    """What to say of line ``number``."""
    return InputError(f"{name}, line {number} is longer than {LONGEST_LINE:,} bytes: is this a text of lines?")


def carriage_returns(name: Path | str) -> InputError:
    """What to say of a text without a ``\\n`` and with several ``\\r``: it would be one line."""
    return InputError(f"{name} ends its lines by carriage returns alone: convert it, for example with tr '\\r' '\\n'")


def _broken_gzip(path: Path | str, error: Exception) -> InputError:
    return InputError(f"{path}: not a complete gzip file ({error}); fetch it again")


def decode_lines(stream: Iterable[bytes], name: Path | str) -> Iterator[str]:
    """Yield the lines of a UTF-8 stream without their ends, each as soon as it is there.

    Drops a BOM at the start, and a ``\\r`` before each ``\\n``. ``stream`` yields lines that end at
    ``\\n``, as files opened for bytes do. Raises :class:`InputError` naming stream and line at the
    first byte that is not UTF-8, and at a line of over ``LONGEST_LINE`` bytes. It also does where
    ``\\r`` alone ends the lines.
    """
    readline = getattr(stream, "readline", None)
    found = stream if readline is None else iter(partial(readline, LONGEST_LINE + 1), b"")
    for number, raw in enumerate(found, start=1):
        if len(raw) > LONGEST_LINE:
            raise too_long(name, number)
        if number == 1:
            raw = raw.removeprefix(BOM)
            if not raw.endswith(b"\n") and raw.count(b"\r") > 1:
                raise carriage_returns(name)
        try:
            line = raw.removesuffix(b"\n").removesuffix(b"\r").decode("utf-8")
        except UnicodeDecodeError as error:
            byte = error.object[error.start]
            encoding = "UTF-16" if number == 1 and raw.startswith(BOMS_OF_UTF16) else "ISO-8859-1"
            raise InputError(
                f"{name}, line {number}: byte 0x{byte:02x} is not valid UTF-8; convert the file"
                f" (for example with iconv -f {encoding} -t UTF-8)"
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
    refuse_pipe(path)
    total, last = 0, b"\n"
    with open_binary(path) as stream:
        try:
            while block := stream.read(1 << 20):
                total += block.count(b"\n")
                last = block[-1:]
        except BROKEN_GZIP as error:
            raise _broken_gzip(path, error) from None
    return total + (last != b"\n")


def refuse_pipe(path: Path | str) -> None:
    """Refuse what cannot be read twice: the second time it holds nothing, or waits for ever.

    Raises:
        InputError: it is neither a file nor a folder.
    """
    if Path(path).exists() and not Path(path).is_file() and not Path(path).is_dir():
        raise InputError(f"{path} is a pipe, and would have to be read twice: give a file")


def numbered_lines(text: str) -> Iterator[tuple[int, str]]:
    """The lines of a text, as :func:`read_lines` cuts them, and their numbers from 1."""
    lines = text.split("\n")
    if lines[-1] == "":
        lines.pop()
    for number, line in enumerate(lines, start=1):
        yield number, line.removesuffix("\r")


def read_text(path: Path, encoding: str | None = None) -> str:
    """A whole file, in the encoding stated, marked, or else found by its bytes: UTF-8 where it is valid.

    What is neither marked nor UTF-8 is guessed by charset-normalizer, and the guess is said on stderr.

    Raises:
        InputError: no such file; one that unpacks to far more than its size; bytes that the stated encoding does not
            have; an unknown encoding; no guess. Lines that ``\\r`` alone ends are refused, too.
    """
    text = _decoded(path, encoding)
    if "\n" not in text and text.count("\r") > 1:
        raise carriage_returns(path)
    return text


def _decoded(path: Path, encoding: str | None) -> str:
    try:
        with open_binary(path) as stream:
            raw = b"".join(_bounded_blocks(stream, path))
    except BROKEN_GZIP as error:
        raise _broken_gzip(path, error) from None
    if encoding is None:
        encoding = next((name for mark, name in MARKS if raw.startswith(mark)), None)
    elif text_encoding(encoding) is None:
        raise InputError(f"{path}: there is no encoding {encoding!r}; iso-8859-1 and cp1252 are some")
    try:
        return raw.decode(encoding or "utf-8").removeprefix("\ufeff")
    except UnicodeDecodeError as error:
        if encoding is None:
            return _decode_by_guess(path, raw)
        line = raw.count(b"\n", 0, error.start) + 1
        raise InputError(
            f"{path}, line {line}: byte 0x{raw[error.start]:02x} is not valid {encoding}: state another encoding="
        ) from None


def _bounded_blocks(stream: BinaryIO, path: Path) -> Iterator[bytes]:
    most = max(SMALL, MOST_GROWTH * path.stat().st_size) if path.suffix == ".gz" else sys.maxsize
    read = 0
    while block := stream.read(1 << 20):
        read += len(block)
        if read > most:
            raise InputError(f"{path}: refused, it unpacks to over {MOST_GROWTH} times its size; unpack it yourself")
        yield block


def _decode_by_guess(path: Path, raw: bytes) -> str:
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


_CODES = {"charmap", "idna", "punycode", "raw-unicode-escape", "undefined", "unicode-escape"}
"""Python's codecs from bytes to text in which no text is written: for names of hosts, source code and machinery."""


def text_encoding(name: str) -> str | None:
    """Python's name of an encoding of texts; None for any other name.

    Python also has codecs that are no encodings of text, such as ``hex`` and ``zlib``. For some of them
    ``bytes.decode`` raises LookupError, and others raise exceptions of their own.
    """
    try:
        found = codecs.lookup(name)
    except (LookupError, ValueError):  # ValueError: a character that no name has
        return None
    if not found._is_text_encoding or found.name.replace("_", "-") in _CODES:
        return None
    return found.name
