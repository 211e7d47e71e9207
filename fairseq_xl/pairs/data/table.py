"""The word vectors of a prepared folder: a row for each entry of its dictionary, kept in vectors.npy."""

from __future__ import annotations

import numpy as np
import torch
from fairseq.data import Dictionary
from torch import Tensor

from fairseq_xl.io.errors import InputError
from fairseq_xl.pairs.data.folder import Prepared
from fairseq_xl.vectors.formats.npy import open_array
from fairseq_xl.vectors.random import random_vectors
from fairseq_xl.vectors.table import WordVectors

VECTORS = "vectors.npy"


def make_table(dictionary: Dictionary, found: WordVectors | None, dim: int, seed: int) -> np.ndarray:
    """The table (V, d) of a dictionary, from the vectors that were found or random ones of ``dim``.

    A word without a vector gets a random direction of the mean length of the others: two sentences that share it can
    still be seen to share it.
    """
    table = random_vectors(dictionary.symbols, found.dim if found else dim, seed).matrix
    if found and len(found):
        table *= np.linalg.norm(found.matrix, axis=1).mean()
        table[[dictionary.index(word) for word in found.words]] = found.matrix
    return table


def word_table(prepared: Prepared) -> Tensor:
    """(V, d) float32 vectors of a prepared folder's dictionary.

    Raises:
        InputError: no such file, a damaged one, or one of another dictionary.
    """
    path = prepared.folder / VECTORS
    if not path.is_file():
        raise InputError(f"{path} is missing: prepare the folder again")
    table = open_array(path)
    if table.ndim != 2 or len(table) != len(prepared.dictionary):
        raise InputError(f"{path} does not fit dict.txt: prepare the folder again")
    return torch.tensor(np.asarray(table), dtype=torch.float32)
