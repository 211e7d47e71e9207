"""A table of word vectors, and how one is read from and written to a file of any format the field uses."""

from __future__ import annotations

import gzip
import logging
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np

from fairseq_xl.io.atomic import atomic_outputs
from fairseq_xl.io.errors import InputError
from fairseq_xl.io.lines import read_lines
from fairseq_xl.vectors.formats.npy import read_npy, vocabulary_path, write_npy
from fairseq_xl.vectors.formats.text import read_text, write_text
from fairseq_xl.vectors.formats.text import read_words as read_words_of_text

logger = logging.getLogger(__name__)

_TEXT_SUFFIXES = (".vec", ".txt", ".vec.gz", ".txt.gz")
_UNPACK_FIRST = (".bin.gz", ".npy.gz", ".zip", ".npz", ".tar", ".tgz", ".xz", ".bz2", ".zst", ".ftz")


@dataclass
class WordVectors:
    """Distinct words and their vectors: row i of ``matrix`` (n, d), float32, belongs to ``words[i]``."""

    words: list[str]
    matrix: np.ndarray

    def __post_init__(self) -> None:
        if self.matrix.ndim != 2 or len(self.matrix) != len(self.words):
            raise ValueError(f"{len(self.words)} words do not fit a matrix of shape {self.matrix.shape}")
        self.matrix = np.asarray(self.matrix, dtype=np.float32)

    def __len__(self) -> int:
        return len(self.words)

    @cached_property
    def index(self) -> dict[str, int]:
        """The row of each word."""
        return {word: row for row, word in enumerate(self.words)}

    @property
    def dim(self) -> int:
        """d, the dimension of the vectors."""
        return self.matrix.shape[1]

    def select(self, words: Collection[str]) -> WordVectors:
        """The rows of those of ``words`` that the table has, in the order of ``words``."""
        found = [word for word in dict.fromkeys(words) if word in self.index]
        return WordVectors(found, self.matrix[[self.index[word] for word in found]])


def read_vectors(
    path: str | Path, words: Collection[str] | None = None, dim: int | None = None, progress: bool = True
) -> WordVectors:
    """Read word vectors from ``path``; only those of ``words``, if given, are kept in memory.

    The suffix decides the format. A ``.bin`` is a fastText model, with vectors from subwords for words it never saw. A
    ``.npy`` is an array with its words in a ``.vocab`` file beside it. Anything else is text, gzipped or not, with or
    without a header line.

    With ``words``, the result holds those that were found, in the order of ``words`` (sorted, if it is a set). Without,
    it holds all, in the file's order. The first vector of a repeated word counts, and a warning tells how many words
    are repeated.

    Raises InputError, in one sentence with file and line, for a file that is missing, damaged or of another dimension
    than ``dim``. It also does so for a NaN, infinite or all-zero vector among those kept.
    """
    path = Path(path)
    if isinstance(words, str):
        raise TypeError("words must be a collection of words, not one string")
    if isinstance(words, (set, frozenset)):
        words = sorted(words)  # the order of a set changes from run to run
    wanted = None if words is None else list(dict.fromkeys(words))
    _check_file(path)
    repeated = 0
    try:
        if path.suffix == ".bin":
            from fairseq_xl.vectors.formats.fasttext import read_fasttext

            found, matrix = read_fasttext(path, wanted, dim, progress)
        elif path.suffix == ".npy":
            found, matrix, repeated = read_npy(path, wanted, dim)
        else:
            found, matrix, repeated = read_text(path, wanted, dim, progress)
    except PermissionError as error:
        raise InputError(f"{path} may not be read: {error.strerror}") from error
    if repeated:
        logger.warning("%s: %d repeated words were passed over; the first vector of each counts", path, repeated)
    table = WordVectors(found, matrix)
    return table if wanted is None or found == wanted else table.select(wanted)


def read_words(path: Path) -> list[str]:
    """The distinct words of a file of vectors, in its order, without the vectors.

    A fastText model (``.bin``) gives the words it was trained on, although it has a vector for any word.

    Raises InputError for a file that is missing, damaged or holds no vectors.
    """
    _check_file(path)
    try:
        if path.suffix == ".bin":
            from fairseq_xl.vectors.formats.fasttext import fasttext_vocabulary

            words = fasttext_vocabulary(path)
        elif path.suffix == ".npy":
            words = list(read_lines(vocabulary_path(path)))
        else:
            words = read_words_of_text(path)
    except PermissionError as error:
        raise InputError(f"{path} may not be read: {error.strerror}") from error
    if not words:
        raise InputError(f"{path} is empty: it holds no vectors")
    return list(dict.fromkeys(words))


def _check_file(path: Path) -> None:
    """Raises InputError for what is no file, or one of a format that must be converted first."""
    if path.is_dir():
        raise InputError(f"{path} is a directory, not a file of word vectors")
    if not path.exists():
        raise InputError(f"there is no file of word vectors at {path}")
    if path.name.endswith(_UNPACK_FIRST):
        raise InputError(f"{path} has a format that is not read directly: unpack or convert it first")
    if path.stat().st_size == 0:
        raise InputError(f"{path} is empty: it holds no vectors")


def write_vectors(path: str | Path, vectors: WordVectors, progress: bool = False) -> None:
    """Write ``path`` (.vec or .txt, either with .gz, or .npy with its .vocab) completely or not at all.

    Reading the file gives the same words and the same float32 numbers. Raises InputError for
    another suffix or for a word that the format cannot hold.
    """
    with writing(path, vectors, progress):
        pass


@contextmanager
def writing(path: str | Path, vectors: WordVectors, progress: bool = False) -> Iterator[None]:
    """As :func:`write_vectors`, but ``path`` appears when the block ends without an error."""
    path = Path(path)
    if path.suffix == ".npy":
        # The vocabulary goes first. An interruption between the two renames leaves old rows with new words. Their
        # numbers almost always differ, and the reader says so.
        with atomic_outputs(vocabulary_path(path), path) as (words_path, array_path):
            write_npy(array_path, words_path, vectors.words, vectors.matrix)
            yield
        return
    if not path.name.endswith(_TEXT_SUFFIXES):
        raise InputError(f"cannot write {path}: its name must end in .npy or {', '.join(_TEXT_SUFFIXES)}")
    with atomic_outputs(path) as (temporary,):
        with open(temporary, "wb") as file:
            if path.suffix == ".gz":
                # No time stamp and no name inside: equal tables give equal files.
                with gzip.GzipFile(filename="", fileobj=file, mode="wb", compresslevel=6, mtime=0) as packed:
                    write_text(path, packed, vectors.words, vectors.matrix, progress)
            else:
                write_text(path, file, vectors.words, vectors.matrix, progress)
        yield
