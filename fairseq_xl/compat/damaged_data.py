"""Preprocessed data and dictionaries that are missing, damaged or of another corpus."""

from __future__ import annotations

import struct
from pathlib import Path
from typing import Any

import numpy as np

from fairseq_xl.compat.patching import Stock, replace
from fairseq_xl.io.errors import InputError

_MAGIC = b"MMIDIDX\x00\x00"
_LEGACY_MAGIC = b"TNTIDX\x00\x00"
_HEADER = struct.Struct("<9sQBQ")
_AGAIN = "preprocess the text again"


class MissingFile(InputError, FileNotFoundError):
    """A file is missing. fairseq itself raises ``FileNotFoundError`` for it, and sometimes catches that."""


def explain_damaged_data() -> None:
    """Say in one sentence why data cannot be used, before training begins.

    Broken: fairseq ends in a traceback from the place that first reads what is missing or damaged. That may be a torn
    or altered index or data file, a missing folder, or a missing or damaged dictionary. A word number beyond the
    dictionary ends in an IndexError of the embedding. On a GPU it ends in an assertion of CUDA.
    """
    from fairseq.data import data_utils, indexed_dataset
    from fairseq.data.dictionary import Dictionary

    @replace(indexed_dataset, "make_dataset")
    def make_dataset(stock: Stock, path: str, impl: str, fix_lua_indexing: bool = False, dictionary: Any = None) -> Any:
        if impl in ("mmap", "cached", "lazy") and Path(f"{path}.idx").is_file():
            if not Path(f"{path}.bin").is_file():
                raise MissingFile(f"{path}.bin is missing and belongs to {path}.idx: {_AGAIN}")
            magic = _magic(f"{path}.idx")
            if magic not in (_MAGIC, _LEGACY_MAGIC):
                raise InputError(f"{path}.idx is damaged, or is not an index of preprocessed text: {_AGAIN}")
            if impl == "mmap":
                _check(path)
        dataset = stock(path, impl, fix_lua_indexing, dictionary)
        if impl == "mmap" and dataset is not None and dictionary is not None:
            _check_words(path, dataset, len(dictionary))
        return dataset

    @replace(data_utils, "infer_language_pair")
    def infer_language_pair(stock: Stock, path: str) -> Any:
        if not Path(path).is_dir():
            raise MissingFile(f"there is no folder {path}: give the one that fairseq-preprocess wrote")
        return stock(path)

    @replace(Dictionary, "add_from_file")
    def add_from_file(stock: Stock, self: Any, f: Any) -> None:
        if not isinstance(f, str):
            return stock(self, f)
        try:
            return stock(self, f)
        except FileNotFoundError:
            raise MissingFile(
                f"there is no dictionary {f}: name the languages and the folder that fairseq-preprocess wrote"
            ) from None
        except InputError:
            raise
        except OSError as error:
            raise InputError(f"cannot read the dictionary {f}: {error.strerror}") from None
        except Exception as error:  # fairseq raises a bare Exception for bytes that are not UTF-8
            raise InputError(f"the dictionary {f} is damaged ({error}): {_AGAIN}") from error


def _magic(path: str) -> bytes:
    with open(path, "rb") as file:
        start = file.read(len(_MAGIC))
    return _LEGACY_MAGIC if start.startswith(_LEGACY_MAGIC) else start


def _check(path: str) -> None:
    """Raises: InputError: index and data do not belong together, or one of them is torn."""
    from fairseq.data.indexed_dataset import _code_to_dtype

    index, data = Path(f"{path}.idx"), Path(f"{path}.bin")
    content = index.read_bytes()
    damaged = InputError(f"{index} is damaged: {_AGAIN}")
    if len(content) < _HEADER.size:
        raise damaged
    _, version, code, count = _HEADER.unpack_from(content)
    if version != 1 or code not in _code_to_dtype or len(content) != _HEADER.size + 12 * count:
        raise damaged
    sizes = np.frombuffer(content, np.int32, count, _HEADER.size).astype(np.int64)
    pointers = np.frombuffer(content, np.int64, count, _HEADER.size + 4 * count)
    each = np.dtype(_code_to_dtype[code]).itemsize
    if (sizes < 0).any() or not np.array_equal(pointers, (np.cumsum(sizes) - sizes) * each):
        raise damaged
    held, needed = data.stat().st_size, int(sizes.sum()) * each
    if held != needed:
        raise InputError(f"{data} is damaged: it has {held} bytes, and {index} says {needed}; {_AGAIN}")


def _check_words(path: str, dataset: Any, words: int) -> None:
    """Raises: InputError: a number that the dictionary has no word for."""
    kind = dataset._index.dtype
    if not np.issubdtype(kind, np.integer):
        return
    numbers = np.frombuffer(dataset._bin_buffer, kind)
    lowest, highest = (int(numbers.min()), int(numbers.max())) if len(numbers) else (0, 0)
    if lowest < 0 or highest >= words:
        raise InputError(
            f"{path}.bin holds word number {lowest if lowest < 0 else highest} and its dictionary has "
            f"{words} words: it is damaged or was preprocessed with another dictionary; {_AGAIN}"
        )
