"""Small dictionaries and vector files for untrained models."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

import pytest
import tiny_words
from fairseq.data import Dictionary


@pytest.fixture
def dictionary() -> Callable[[int], Dictionary]:
    """``dictionary(SIZE)``: fairseq's special tokens and w0, w1 …, the first the most frequent."""
    return tiny_words.dictionary


@pytest.fixture
def write_vectors(tmp_path: Path) -> Callable[[int, int], str]:
    """``write_vectors(WORDS, DIM)``: a file of random vectors for w0, w1 …"""
    return lambda words, dim: tiny_words.write_vectors(tmp_path / "v.vec", words, dim)


@pytest.fixture
def task(dictionary) -> SimpleNamespace:
    """The part of a task that models are built from: 11 source and 13 target words."""
    return SimpleNamespace(source_dictionary=dictionary(11), target_dictionary=dictionary(13))
