"""What fairseq reads: batches of pairs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from fairseq.data import Dictionary
from fairseq.data.data_utils import collate_tokens
from torch import Tensor

from fairseq_xl.pairs.data.directory import Row
from fairseq_xl.training.sized import SizedDataset


class PairDataset(SizedDataset):
    """Pairs with their labels. Training sees them in a new order each epoch and, if wanted, with sides exchanged.

    Args:
        rows: of a data directory.
        dictionary: of the folder.
        seed: of the exchange of sides.
        exchange: exchange the sides of each pair with probability one half, anew in each epoch. What a pair means
            does not depend on their order, but a model may.
    """

    def __init__(self, rows: Sequence[Row], dictionary: Dictionary, seed: int = 1, exchange: bool = False):
        self.rows, self.pad = rows, dictionary.pad()
        self.sides = [
            [sentence(row.left, dictionary) for row in rows],
            [sentence(row.right, dictionary) for row in rows],
        ]
        self.sizes = np.array([max(len(a), len(b)) for a, b in zip(*self.sides, strict=True)])
        self.labels = None if any(row.label is None for row in rows) else torch.tensor([row.label for row in rows])
        self.seed, self.exchange = seed, exchange
        self.set_epoch(1)

    @property
    def can_reuse_epoch_itr_across_epochs(self) -> bool:
        return not self.exchange  # the sides change each epoch, and workers must know

    def set_epoch(self, epoch: int) -> None:
        random = np.random.default_rng([self.seed, epoch])
        self.exchanged = random.random(len(self)) < (0.5 if self.exchange else 0)

    def __len__(self) -> int:
        return len(self.rows)

    def __getitem__(self, index: int) -> tuple[int, Tensor, Tensor]:
        left, right = self.sides[0][index], self.sides[1][index]
        return (index, right, left) if self.exchanged[index] else (index, left, right)

    def collater(self, samples: list[tuple[int, Tensor, Tensor]]) -> dict[str, Any]:
        if not samples:
            return {}
        places, left, right = zip(*samples, strict=True)
        batch = {
            "id": torch.tensor(places),
            "net_input": {
                "left_tokens": collate_tokens(list(left), self.pad),
                "right_tokens": collate_tokens(list(right), self.pad),
            },
            "nsentences": len(samples),
            "ntokens": sum(map(len, left)) + sum(map(len, right)),
        }
        if self.labels is not None:
            batch["target"] = self.labels[list(places)]
        return batch


def numbers(words: Sequence[str], dictionary: Dictionary) -> Tensor:
    """(T,) numbers of words."""
    return torch.tensor([dictionary.index(word) for word in words], dtype=torch.long)


def sentence(words: str, dictionary: Dictionary) -> Tensor:
    """(T,) numbers of words that are separated by spaces, T at least 1.

    A sentence without words, such as "???", reads as one unknown word: a pair of it has a score, too.
    """
    found = numbers(words.split(), dictionary)
    return found if len(found) else torch.tensor([dictionary.unk()])
