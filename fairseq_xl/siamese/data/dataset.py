"""What fairseq reads: sentence pairs drawn anew for each epoch, and single sentences with their class."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from fairseq.data.data_utils import collate_tokens
from torch import Tensor

from fairseq_xl.siamese.data.directory import Corpus
from fairseq_xl.siamese.data.sampling import Pairs, sample_pairs
from fairseq_xl.siamese.data.settings import SIDES
from fairseq_xl.training.sized import SizedDataset


class Sentences(SizedDataset):
    """The sentences of some corpora, one after the other, cut to a length, each with its class."""

    def __init__(self, corpora: Sequence[Corpus], pad: int, longest: int):
        self.corpora, self.pad, self.longest = corpora, pad, longest
        self.starts = np.cumsum([0, *map(len, corpora)])
        self.labels = np.concatenate([corpus.labels for corpus in corpora])
        self.sizes = np.minimum(np.concatenate([corpus.units.sizes for corpus in corpora]), longest)

    def __len__(self) -> int:
        return len(self.labels)

    def __getitem__(self, number: int) -> tuple[int, Tensor, int]:
        corpus = int(np.searchsorted(self.starts, number, "right")) - 1
        units = self.corpora[corpus].units[number - self.starts[corpus]]
        return number, units[: self.longest], int(self.labels[number])

    def collater(self, samples: list[tuple[int, Tensor, int]]) -> dict[str, Any]:
        if not samples:
            return {}
        numbers, units, labels = zip(*samples, strict=True)
        lengths = torch.tensor([len(u) for u in units])
        return {
            "id": torch.tensor(numbers),
            "net_input": {"src_tokens": collate_tokens(list(units), self.pad), "src_lengths": lengths},
            "target": torch.tensor(labels),
            "nsentences": len(samples),
            "ntokens": int(lengths.sum()),
        }

    def batch_by_size(
        self,
        indices: np.ndarray,
        max_tokens: int | None = None,
        max_sentences: int | None = None,
        required_batch_size_multiple: int = 1,
    ) -> Any:
        """Batches with every sentence: fairseq drops what is no multiple at the end, here the longest ones."""
        return super().batch_by_size(indices, max_tokens, max_sentences, 1)


class EpochPairs(SizedDataset):
    """Pairs of sentences; ``set_epoch`` draws them from the seed and the epoch alone.

    Args:
        sentences: of the low-resource language and, where there is one, the high-resource one, in this order.
        kinds: of pairs, such as ``low-high``: for each sentence of the first side, some of the second.
        classes: how many.
        per_sentence: pairs of the same class for each sentence, and as many of different classes.
        balance: draw the first side's classes equally often.
        seed: of all draws.
    """

    def __init__(
        self, sentences: Sentences, kinds: Sequence[str], classes: int, per_sentence: int, balance: bool, seed: int
    ):
        self.sentences, self.kinds, self.classes = sentences, kinds, classes
        self.per_sentence, self.balance, self.seed = per_sentence, balance, seed
        self.set_epoch(1)

    @property
    def can_reuse_epoch_itr_across_epochs(self) -> bool:
        return False  # other pairs, other batches, and workers that know them

    def set_epoch(self, epoch: int) -> None:
        random = np.random.default_rng([self.seed, epoch])
        drawn = [self._draw(kind, random) for kind in self.kinds]
        self.pairs = Pairs(*(np.concatenate(columns) for columns in zip(*map(_columns, drawn), strict=True)))
        self.order = random.permutation(len(self.pairs))
        sizes = self.sentences.sizes
        self.sizes = sizes[self.pairs.left] + sizes[self.pairs.right]

    def _draw(self, kind: str, random: np.random.Generator) -> Pairs:
        first, second = (SIDES.index(side) for side in kind.split("-"))
        corpora, starts = self.sentences.corpora, self.sentences.starts
        pairs = sample_pairs(
            corpora[first].labels,
            corpora[second].labels,
            self.classes,
            self.per_sentence,
            random,
            self.balance,
            one_corpus=first == second,
        )
        return Pairs(pairs.left + starts[first], pairs.right + starts[second], pairs.same)

    def __len__(self) -> int:
        return len(self.pairs)

    def __getitem__(self, index: int) -> tuple[int, int, int, bool]:
        return (index, int(self.pairs.left[index]), int(self.pairs.right[index]), bool(self.pairs.same[index]))

    def ordered_indices(self) -> np.ndarray:
        return self.order

    def collater(self, samples: list[tuple[int, int, int, bool]]) -> dict[str, Any]:
        """A batch of sentences, each once however many pairs it is in, and the pairs as places in that batch."""
        if not samples:
            return {}
        pairs = np.array(samples)
        numbers, places = np.unique(pairs[:, 1:3], return_inverse=True)
        batch = self.sentences.collater([self.sentences[number] for number in numbers])
        left, right = torch.from_numpy(places.reshape(-1, 2)).unbind(1)
        return {
            **batch,
            "id": torch.from_numpy(pairs[:, 0]),
            "left": left,
            "right": right,
            "same": torch.from_numpy(pairs[:, 3].astype(bool)),
            "nsentences": len(samples),
        }


def _columns(pairs: Pairs) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    return pairs.left, pairs.right, pairs.same
