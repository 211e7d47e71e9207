"""fastText's own model files (.bin): every word has a vector, seen in training or not, from its subwords.

fastText's loader believes its file. A file that ends too early gives whatever memory held. A header that contradicts
the rest of the file ends the process. This module therefore walks and checks the layout before fastText opens the file.
"""

from __future__ import annotations

import mmap
import struct
from collections.abc import Callable, Collection, Iterator, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np

from fairseq_xl.io.errors import InputError
from fairseq_xl.io.lines import utf8_name
from fairseq_xl.io.progress import progress_bar
from fairseq_xl.vectors.formats.checks import RowCheck

_MAGIC = 793_712_314
_VERSIONS = (11, 12)
_HEADER = struct.Struct("<2i12id")  # magic, version, twelve integer settings, sampling threshold
_DICTIONARY = struct.Struct("<3i2q")  # entries, words, labels, tokens, pruned entries (or -1)
_AFTER_ENTRY = struct.Struct("<qb")  # count and kind follow each entry's zero-terminated string
_WORD, _LABEL = 0, 1
_MOST_COUNT = 10**15  # fastText's infinity. Beyond it the tree of its hierarchical softmax leaves its memory.
_LONGEST_SUBWORD = 100  # characters. Opening a model looks up every subword of every word.
_CLASSIFIER = 3
_MATRIX = struct.Struct("<?2q")  # quantised?, rows, columns; float32 numbers follow


def read_fasttext(
    path: Path, wanted: Collection[str] | None, dim: int | None, progress: bool
) -> tuple[list[str], np.ndarray]:
    """Vectors (n, d) of the wanted words, or of the model's vocabulary when ``wanted`` is None.

    A wanted word outside the vocabulary gets the mean of its character n-grams' vectors. A word without any n-gram (in
    a model trained without subwords) is left out. Raises InputError when the file is not an intact fastText model.
    """
    model = open_fasttext(path)
    width = model.get_dimension()
    if dim is not None and width != dim:
        raise InputError(f"{path} holds vectors of dimension {width}, but dimension {dim} is needed")
    words = fasttext_vocabulary(path) if wanted is None else list(wanted)
    with progress_bar(f"reading {path.name}", progress, total=len(words), unit=" words") as bar:
        kept, matrix = word_vectors(model, words, bar.update)
    RowCheck(path, place=lambda row: f"word {row + 1}").check(kept, matrix)
    return kept, matrix


def open_fasttext(path: Path) -> Any:
    """fastText's own object of a model file. Raises: InputError: it is not intact, or fastText is not installed."""
    check_layout(path)
    fasttext = import_fasttext(f"reading {path}")
    try:
        return fasttext.load_model(utf8_name(path))
    except (ValueError, RuntimeError) as error:
        raise InputError(f"{path} cannot be opened as a fastText model: {error}") from error


def word_vectors(
    model: Any, words: Sequence[str], done: Callable[[], object] = lambda: None
) -> tuple[list[str], np.ndarray]:
    """The words (n) that have a vector, and their vectors (n, d). A word outside the vocabulary gets its subwords'.

    Args:
        model: of :func:`open_fasttext`.
        words: different ones.
        done: called after each.
    """
    kept: list[str] = []
    matrix = np.empty((len(words), model.get_dimension()), dtype=np.float32)
    for word in words:
        done()
        row = model.get_word_vector(word)
        if not row.any() and model.get_word_id(word) < 0:
            continue  # neither a word of the vocabulary nor a subword of one
        matrix[len(kept)] = row
        kept.append(word)
    matrix.resize((len(kept), matrix.shape[1]), refcheck=False)
    return kept, matrix


def fasttext_vocabulary(path: Path) -> list[str]:
    """The words that the model saw often enough in training, read without loading the model.

    Raises InputError when the file is not an intact fastText model.
    """
    check_layout(path)
    with open(path, "rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
        # One byte after an entry's count tells words (0) from the labels of a classifier (1).
        entries = [data[start:end] for start, end in _entries(data) if data[end + _AFTER_ENTRY.size] == _WORD]
    try:
        return [entry.decode() for entry in entries]
    except UnicodeDecodeError as error:
        raise _not_utf8(path) from error


def import_fasttext(purpose: str) -> ModuleType:
    """The package fasttext. It is compiled, so it is the one dependency that a machine may lack."""
    try:
        import fasttext
    except ImportError as error:
        raise InputError(
            f"{purpose} needs the Python package fasttext: install it with "
            "`pip install fasttext-numpy2` (which needs a C++ compiler where it has no wheel)"
        ) from error
    return fasttext


def _not_utf8(path: Path) -> InputError:
    return InputError(f"{path} has words that are not valid UTF-8: name the words to read, or train it again")


def check_layout(path: Path) -> int:
    """Walk the file's layout and return the dimension of its vectors, or raise InputError."""
    truncated = InputError(f"{path} is a truncated fastText model: fetch or train it again")
    size = path.stat().st_size
    with open(path, "rb") as file:
        start = file.read(_HEADER.size)
        if len(start) < 4 or struct.unpack_from("<i", start)[0] != _MAGIC:
            raise InputError(
                f"{path} is not a fastText model (its first bytes are not fastText's): "
                "word2vec's binary files must be converted to text first"
            )
        if len(start) < _HEADER.size:
            raise truncated
        _, version, width = _HEADER.unpack(start)[:3]
        if version not in _VERSIONS:
            raise InputError(f"{path} is a fastText model of version {version}; the known versions are 11 and 12")
        with mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
            try:
                end = _end_of_model(data, width)
            except (struct.error, EOFError, OverflowError) as error:
                raise truncated from error
            except _Damaged as error:
                raise InputError(f"{path} is a damaged fastText model ({error}): fetch it again") from error
    if end > size:
        raise truncated
    if end < size:
        raise InputError(f"{path} is a damaged fastText model ({size - end} bytes too many): fetch it again")
    return width


class _Damaged(Exception):
    """The layout contradicts itself."""


def _end_of_model(data: mmap.mmap, width: int) -> int:
    """The position where a model that starts like this one must end."""
    *_, model, buckets, least, most, _, _ = _HEADER.unpack_from(data)
    size, words, labels, _, pruned = _DICTIONARY.unpack_from(data, _HEADER.size)
    if width < 1:
        raise _Damaged(f"its dimension is {width}")
    if size < 1 or min(words, labels) < 0 or words + labels != size:
        raise _Damaged(f"{words} words and {labels} labels are not its {size} entries")
    if least < 0 or not 0 <= most <= _LONGEST_SUBWORD or buckets < (most > 0):
        raise _Damaged(f"its subwords have {least} to {most} characters, in {buckets} buckets")
    position = _HEADER.size + _DICTIONARY.size
    for number, (_, end) in enumerate(_entries(data)):
        count, kind = _AFTER_ENTRY.unpack_from(data, end + 1)
        if kind != (_WORD if number < words else _LABEL) or not 0 <= count < _MOST_COUNT:
            raise _Damaged(f"entry {number + 1} of its dictionary is of kind {kind} and was seen {count} times")
        position = end + 1 + _AFTER_ENTRY.size
    position += 8 * max(0, pruned)
    expected = {"input": words + buckets, "output": labels if model == _CLASSIFIER else words}
    for name, needed in expected.items():
        quantised, rows, columns = _MATRIX.unpack_from(data, position)
        if quantised:
            raise _Damaged("its matrices are quantised, which is not supported")
        if (rows, columns) != (needed, width):
            raise _Damaged(f"its {name} matrix is {rows} x {columns}, not {needed} rows of dimension {width}")
        position += _MATRIX.size + 4 * rows * columns
    return position


def _entries(data: mmap.mmap) -> Iterator[tuple[int, int]]:
    """Where each entry of the dictionary starts and ends."""
    position = _HEADER.size + _DICTIONARY.size
    for _ in range(_DICTIONARY.unpack_from(data, _HEADER.size)[0]):
        end = data.find(b"\0", position)
        if end < 0:
            raise EOFError
        yield position, end
        position = end + 1 + _AFTER_ENTRY.size
