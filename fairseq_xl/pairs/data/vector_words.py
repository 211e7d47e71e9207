"""The words of a file of vectors, without the vectors: a repair or a count of unknown words needs no more."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

from fairseq_xl.io.errors import InputError
from fairseq_xl.io.lines import BOM, BROKEN_GZIP, open_binary
from fairseq_xl.vectors.dictionary import read_word_list
from fairseq_xl.vectors.formats.fasttext import fasttext_vocabulary
from fairseq_xl.vectors.formats.npy import vocabulary_path


def vector_words(path: Path) -> dict[str, int]:
    """Words of a file of vectors and their ranks from 0, the most frequent first as such files are ordered.

    A fastText model (``.bin``) gives the words it was trained on, although it has a vector for any word. A ``.npy``
    gives the words beside it. Anything else gives the words of its lines, gzipped or not.

    Raises:
        InputError: the file is missing or holds no vectors.
    """
    if not path.is_file():
        raise InputError(f"there is no file of word vectors at {path}")
    if path.suffix == ".bin":
        words = fasttext_vocabulary(path)
    elif path.suffix == ".npy":
        words = read_word_list(vocabulary_path(path))
    else:
        words = _text_words(path)
    ranks: dict[str, int] = {}
    for word in words:
        ranks.setdefault(word, len(ranks))
    if not ranks:
        raise InputError(f"{path} holds no word vectors")
    return ranks


def _lines(path: Path, stream: BinaryIO) -> Iterator[bytes]:
    """Lines without a byte order mark. Raises: InputError: gzip's file is damaged."""
    try:
        for number, line in enumerate(stream):
            yield line if number else line.removeprefix(BOM)
    except BROKEN_GZIP as error:
        raise InputError(f"{path} is damaged: its gzip data end early or do not unpack: fetch it again") from error


def _text_words(path: Path) -> list[str]:
    """The words of lines ``word x1 … xd``, with or without a line ``n d`` before them."""
    words: list[str] = []
    width = 0
    with open_binary(path) as stream:
        for number, line in enumerate(_lines(path, stream), start=1):
            fields = line.split()
            if number == 1:
                header = len(fields) == 2 and all(field.isdigit() for field in fields)
                width = int(fields[1]) if header else len(fields) - 1
                if header:
                    continue
            word = line.rstrip().rsplit(None, width)
            if width < 1 or len(word) <= width:
                raise InputError(
                    f"{path}, line {number}: expected a word and {max(width, 1)} numbers: "
                    "is this a file of word vectors?"
                )
            try:
                words.append(word[0].decode())
            except UnicodeDecodeError:
                raise InputError(f"{path}, line {number} is not valid UTF-8: convert the file to UTF-8 first") from None
    return words
