"""The data directory: what ``fairseq-xl match prepare`` writes and everything else of this folder reads.

manifest.json      how text became words, where the pairs came from, what was left out
dict.txt           fairseq's dictionary
vectors.npy        a row for each entry of the dictionary
SPLIT.tsv          one pair a line under a line of names, SPLIT being train, valid or test
train_only.tsv     pairs for training that no fold is judged on, where a source has that split
chains.tsv         pairs for training that follow from those of train.tsv, where they were asked for
supplement.tsv     pairs of other corpora for training, which no fold holds out, where they were given
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import torch
from fairseq.data import Dictionary
from torch import Tensor

from fairseq_xl.io.errors import InputError
from fairseq_xl.io.folders import read_manifest
from fairseq_xl.io.lines import read_lines
from fairseq_xl.io.tables import write_tsv
from fairseq_xl.pairs.data.source import TRAIN_ONLY
from fairseq_xl.pairs.data.tokenizer import Tokenizer
from fairseq_xl.vectors.formats.npy import open_array

VERSION = 1
MANIFEST = "manifest.json"
VECTORS = "vectors.npy"
CHAINS, SUPPLEMENT = "chains", "supplement"
COLUMNS = ("id", "label", "group", "left_fold", "right_fold", "left", "right", "left_text", "right_text")


@dataclass(frozen=True)
class Row:
    """A pair of a data directory.

    Attributes:
        id: file's name and line, unique in the folder.
        label: 0 or 1. None in an unlabelled split.
        group: pairs with a sentence in common are in one group.
        folds: of the left and the right sentence, from 0, for cross-validation. Fold k is validated on the pairs with
            both sentences in k and trained on those with neither. A chain has both folds that its three sentences are
            in. A pair of the supplement has the number after the last fold's, so that it is always trained on.
        left, right: words, separated by spaces.
        left_text, right_text: as they were written, except for white space.
    """

    id: str
    label: int | None
    group: int
    folds: tuple[int, int]
    left: str
    right: str
    left_text: str
    right_text: str


class DataDirectory:
    """A data directory.

    Raises:
        InputError: the folder is missing, or of another version.
    """

    def __init__(self, folder: Path | str):
        self.folder = Path(folder)
        self.manifest: dict[str, Any] = read_manifest(
            self.folder / MANIFEST, VERSION, "fairseq-xl match prepare", tokenizer=dict, folds=int
        )
        try:
            self.tokenizer = Tokenizer(**self.manifest["tokenizer"])
        except TypeError as error:
            raise InputError(f"{self.folder / MANIFEST} is damaged ({error}): prepare it again") from None
        self.folds: int = self.manifest["folds"]

    @cached_property
    def dictionary(self) -> Dictionary:
        return Dictionary.load(str(self.folder / "dict.txt"))

    def vectors(self) -> Tensor:
        """(V, d) float32 vectors of the dictionary's words.

        Raises:
            InputError: the file is missing, damaged, or of another dictionary.
        """
        path = self.folder / VECTORS
        if not path.is_file():
            raise InputError(f"{path} is missing: prepare the data directory again")
        table = open_array(path)
        if table.ndim != 2 or len(table) != len(self.dictionary):
            raise InputError(f"{path} does not fit dict.txt: prepare the data directory again")
        return torch.tensor(np.asarray(table), dtype=torch.float32)

    def rows(self, split: str) -> list[Row]:
        """Raises: InputError: the folder has no such split, or a damaged one."""
        path = self.folder / f"{split}.tsv"
        if not path.is_file():
            raise InputError(f"{self.folder} has no split {split}: prepare it with a file for it")
        found = []
        for number, line in enumerate(read_lines(path), start=1):
            if number == 1:
                continue  # the names
            try:
                found.append(_row(line.split("\t")))
            except (ValueError, TypeError):
                raise InputError(f"{path}, line {number} is damaged: prepare it again") from None
        return found

    def fold(self, fold: int, held_out: bool) -> list[Row]:
        """The training pairs within a fold, or outside it.

        Raises:
            InputError: there is no such fold.
        """
        if not 0 <= fold < self.folds:
            raise InputError(
                f"fold {fold} of {self.folds}: folds count from 0, and `match prepare --folds` says how many"
            )
        if held_out:
            return [row for row in self.rows("train") if row.folds == (fold, fold)]
        return [row for row in self.training() if fold not in row.folds]

    def training(self) -> list[Row]:
        """The training pairs, and those of the folder that no fold is judged on: train_only, chains and supplement."""
        more = [name for name in (TRAIN_ONLY, CHAINS, SUPPLEMENT) if (self.folder / f"{name}.tsv").is_file()]
        return [row for name in ("train", *more) for row in self.rows(name)]


def _row(cells: list[str]) -> Row:
    name, label, group, left_fold, right_fold, *texts = cells
    return Row(name, int(label) if label else None, int(group), (int(left_fold), int(right_fold)), *texts)


def write_rows(path: Path, rows: Iterable[Row]) -> None:
    """Write one split."""

    def cells(row: Row) -> tuple[object, ...]:
        texts = (" ".join(text.split()) for text in (row.left, row.right, row.left_text, row.right_text))
        return row.id, row.label, row.group, *row.folds, *texts

    write_tsv(path, COLUMNS, map(cells, rows))
