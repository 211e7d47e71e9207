"""The data directory: what ``fairseq-xl classify prepare`` writes and everything else of this folder reads.

manifest.json              languages, classes, how text becomes units, what was left out
dict.txt                   fairseq's dictionary of the training text's n-grams, of both languages
SPLIT.SIDE.tsv             class, tab, text; SPLIT is train, valid or test and SIDE low or high (resource language)
SPLIT.SIDE.bin, .idx       the same texts as numbers of units
morphemes.SIDE.txt         segmentations, where Morfessor is asked for
vectors.npy                where the embeddings of n-grams begin, where word vectors are given
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import torch
from fairseq.data import Dictionary, indexed_dataset

from fairseq_xl.io.atomic import atomic_text
from fairseq_xl.io.errors import InputError
from fairseq_xl.io.folders import read_manifest
from fairseq_xl.io.lines import read_lines
from fairseq_xl.siamese.data.morphemes import Segmenter
from fairseq_xl.text.ngrams import ngrams, normalise
from fairseq_xl.vectors.formats.npy import open_array

VERSION = 1
MANIFEST = "manifest.json"
DICTIONARY = "dict.txt"
VECTORS = "vectors.npy"


@dataclass(frozen=True)
class Corpus:
    """One split of one side: texts, classes (N,) and units."""

    texts: list[str]
    labels: np.ndarray
    units: Any

    def __len__(self) -> int:
        return len(self.texts)


class DataDirectory:
    """What is in a data directory.

    Raises:
        InputError: no such directory, or one of another version.
    """

    def __init__(self, path: Path | str):
        self.path = Path(path)
        self.manifest: dict[str, Any] = read_manifest(
            self.path / MANIFEST,
            VERSION,
            "fairseq-xl classify prepare",
            classes=list,
            ngrams=list,
            morphemes=list,
            lower=bool,
        )
        self.classes: list[str] = self.manifest["classes"]
        self.orders: tuple[int, ...] = tuple(self.manifest["ngrams"])

    @cached_property
    def dictionary(self) -> Dictionary:
        return Dictionary.load(str(self.path / DICTIONARY))

    @cached_property
    def fingerprint(self) -> str:
        """Of what a model's numbers stand for: n-grams and classes."""
        meant = [self.dictionary.symbols, self.classes, self.orders, self.manifest["lower"]]
        return hashlib.sha256(json.dumps(meant).encode()).hexdigest()[:16]

    @cached_property
    def segmenters(self) -> dict[str, Segmenter]:
        return {side: Segmenter.load(self.path / f"morphemes.{side}.txt") for side in self.manifest["morphemes"]}

    @property
    def vector_dim(self) -> int:
        """The size of the n-grams' vectors; 0 where there are none.

        Raises:
            InputError: the manifest is damaged.
        """
        vectors = self.manifest.get("vectors", {})
        dim = vectors.get("dim", 0) if isinstance(vectors, dict) else None
        if not isinstance(dim, int):
            raise InputError(f"{self.path / MANIFEST} is damaged (its 'vectors'): prepare the folder again")
        return dim

    def vectors(self) -> np.ndarray:
        """(V, d), float32: where embeddings begin, zeros for n-grams of no known word.

        Raises:
            InputError: no file, as in the folder of a packed encoder, or a damaged one.
        """
        path = self.path / VECTORS
        if not path.is_file():
            raise InputError(f"{path} is missing: prepare the data again")
        rows = np.array(open_array(path))
        if rows.shape != (len(self.dictionary), self.vector_dim):
            raise InputError(f"{path} is not of {MANIFEST}: prepare the data again")
        return rows

    def has(self, split: str, side: str) -> bool:
        return (self.path / f"{split}.{side}.tsv").is_file()

    def corpus(self, split: str, side: str) -> Corpus:
        """Raises: InputError: there is no such split, or a damaged one."""
        stem = self.path / f"{split}.{side}"
        if not self.has(split, side):
            raise InputError(
                f"{self.path} has no {split} text of the {side}-resource language: prepare it with a file for it"
            )
        index = {name: i for i, name in enumerate(self.classes)}
        labels, texts = [], []
        for number, line in enumerate(read_lines(f"{stem}.tsv"), start=1):
            name, tab, text = line.partition("\t")
            if not tab or name not in index:
                raise InputError(f"{stem}.tsv, line {number} is damaged: prepare the data again")
            labels.append(index[name])
            texts.append(text)
        units = indexed_dataset.make_dataset(str(stem), "mmap", dictionary=self.dictionary)
        if units is None or len(units) != len(texts):
            raise InputError(f"{stem}.bin is not of {stem}.tsv: prepare the data again")
        return Corpus(texts, np.array(labels, dtype=np.int64), units)

    def clean(self, text: str) -> str:
        return normalise(text, self.manifest["lower"])

    def encode(self, text: str, side: str = "low") -> torch.Tensor:
        """(T,) unit numbers of a sentence as a user writes it; empty for a blank one."""
        return encode(self.clean(text), self.dictionary, self.orders, self.segmenters.get(side))


def encode(text: str, dictionary: Dictionary, orders: Sequence[int], segmenter: Segmenter | None) -> torch.Tensor:
    """(T,) unit numbers of a normalised sentence."""
    units = ngrams(segmenter(text) if segmenter else text, orders)
    return torch.tensor([dictionary.index(unit) for unit in units], dtype=torch.long)


def write_corpus(
    stem: Path, names: Iterable[str], texts: Sequence[str], encoded: Iterable[torch.Tensor], vocabulary: int
) -> None:
    """Write one split of one side."""
    builder = indexed_dataset.make_builder(f"{stem}.bin", impl="mmap", vocab_size=vocabulary)
    for units in encoded:
        builder.add_item(units)
    builder.finalize(f"{stem}.idx")
    with atomic_text(f"{stem}.tsv") as stream:
        stream.writelines(f"{name}\t{text}\n" for name, text in zip(names, texts, strict=True))
