"""A data directory's dictionaries and sentences, as fairseq reads them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from fairseq.data import Dictionary, data_utils

from fairseq_xl.io.errors import InputError
from fairseq_xl.vectors.dictionary import read_dictionary


def load_dictionary(path: Path) -> Dictionary:
    """Raises: InputError: a file that fairseq cannot load."""
    read_dictionary(path)
    return Dictionary.load(str(path))


def load_side(prefix: str, dictionary: Dictionary) -> Any:
    """One side of a pair in one split, a tensor of numbers for each sentence.

    Raises:
        InputError: no such files.
    """
    data = data_utils.load_indexed_dataset(prefix, dictionary, None)
    if data is None:
        raise InputError(f"there is no {prefix}.idx: prepare the data again")
    return data
