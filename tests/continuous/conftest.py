"""Small dictionaries and vector files for untrained models, and a language that some learn."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

import pytest
import random_vectors
import tiny_words
from fairseq.data import Dictionary

from fairseq_xl.text.synthetic import generator as synthetic
from fairseq_xl.vectors.dictionary import read_dictionary


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


@pytest.fixture(scope="session")
def synthetic_corpus(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., Path]:
    """``synthetic_corpus(TRAIN, VALID, TEST, dim=DIM)``: a folder with so many sentences of the synthetic language.

    ``bin`` is what fairseq-preprocess makes of them, and ``en.vec`` has random vectors for the English words.
    """
    import in_process

    def make(*counts: int, dim: int) -> Path:
        folder = tmp_path_factory.mktemp("synthetic")
        synthetic.write(synthetic.generate(1, *counts, 0), folder)
        files = " ".join(f"--{part}pref {folder}/{part}" for part in ("train", "valid", "test"))
        in_process.preprocess(f"-s qel -t en {files} --destdir {folder}/bin --workers 1")
        random_vectors.write(folder / "en.vec", read_dictionary(folder / "bin/dict.en.txt"), dim)
        return folder

    return make
