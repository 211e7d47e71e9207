"""Sentences of many language pairs as one fairseq dataset."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from fairseq.data import FairseqDataset, data_utils
from torch import Tensor
from torch.nn.utils.rnn import pad_sequence


@dataclass(frozen=True)
class PairData:
    """The two sides of a pair, line by line; ``sizes`` of each are the lengths."""

    source: Any
    target: Any
    number: int
    """of the pair"""
    language: int
    """number of the target language"""
    own: bool = False
    """whether the tags are the sentences' own"""


@dataclass(frozen=True)
class Sampling:
    """How an epoch of training is put together. An epoch depends on its number and on nothing that came before.

    temperature: see :func:`apportion`
    per_pair: this many sentences of each pair, the same in every epoch; 0 for all
    own_share: share of the sentences that have their own tags. The temperature then apportions them among their pairs,
        and the rest among the others. None: no such share, and one temperature for all pairs
    by_pair: sentences are ordered by pair before length, so that a batch is of one pair but where two of them meet
    """

    temperature: float = 1.0
    per_pair: int = 0
    own_share: float | None = None
    by_pair: bool = False
    seed: int = 1


class MixedPairs(FairseqDataset):
    """Pairs one after the other; batches are of sentences of like length, whatever pair they are from.

    Args:
        pairs: each with one sentence or more.
        pad, eos: numbers of these symbols, which are the same in all fairseq dictionaries.
        sampling: how each epoch is drawn; None takes every sentence once, in the same order (validation).
    """

    def __init__(self, pairs: Sequence[PairData], pad: int, eos: int, sampling: Sampling | None):
        self.pairs = pairs
        self.pad, self.eos = pad, eos
        self.sampling = sampling
        self.epoch = 1
        self.ends = np.cumsum([len(pair.source) for pair in pairs])
        self.source_sizes = np.concatenate([np.asarray(pair.source.sizes) for pair in pairs])
        self.target_sizes = np.concatenate([np.asarray(pair.target.sizes) for pair in pairs])

    def __len__(self) -> int:
        return int(self.ends[-1])

    def __getitem__(self, index: int) -> dict[str, Any]:
        place = int(np.searchsorted(self.ends, index, side="right"))
        pair = self.pairs[place]
        row = int(index) - int(self.ends[place]) + len(pair.source)
        return {
            "id": int(index),
            "source": pair.source[row],
            "target": pair.target[row],
            "pair": pair.number,
            "language": pair.language,
        }

    def collater(self, samples: list[dict[str, Any]]) -> dict[str, Any]:
        """A batch with ``src_tokens`` (N, S) and ``target`` (N, T), both padded at the end, and ``pair`` (N,)."""
        if not samples:
            return {}

        def column(name: str) -> Tensor:
            return torch.tensor([sample[name] for sample in samples])

        sources = [sample["source"].long() for sample in samples]
        targets = [sample["target"].long() for sample in samples]
        target = pad_sequence(targets, True, self.pad)
        # The end of a sentence, which closes the target, opens what the decoder reads.
        previous = pad_sequence([tags.roll(1) for tags in targets], True, self.pad)
        return {
            "id": column("id"),
            "nsentences": len(samples),
            "ntokens": sum(map(len, targets)),
            "net_input": {
                "src_tokens": pad_sequence(sources, True, self.pad),
                "src_lengths": torch.tensor([len(source) for source in sources]),
                "prev_output_tokens": previous,
                "target_languages": column("language"),
            },
            "target": target,
            "pair": column("pair"),
        }

    def set_epoch(self, epoch: int) -> None:
        """fairseq calls this before it asks for an epoch's :meth:`ordered_indices`."""
        self.epoch = epoch

    @property
    def can_reuse_epoch_itr_across_epochs(self) -> bool:
        return self.sampling is None

    def ordered_indices(self) -> np.ndarray:
        """The epoch's sentences by length, those of equal length by chance."""
        indices = np.arange(len(self)) if self.sampling is None else self._drawn(self.sampling)
        indices = indices[np.argsort(self.target_sizes[indices], kind="stable")]
        indices = indices[np.argsort(self.source_sizes[indices], kind="stable")]
        if self.sampling is not None and self.sampling.by_pair:
            place = np.searchsorted(self.ends, indices, side="right")
            indices = indices[np.argsort(place, kind="stable")]
        return indices

    def _drawn(self, sampling: Sampling) -> np.ndarray:
        available = np.split(np.arange(len(self)), self.ends[:-1])
        if sampling.per_pair:
            fixed = np.random.default_rng(sampling.seed)
            available = [fixed.permutation(rows)[: sampling.per_pair] for rows in available]
        rng = np.random.default_rng([sampling.seed, self.epoch])
        counts = self._counts(np.array([len(rows) for rows in available]), sampling)
        drawn = [draw(rows, count, rng) for rows, count in zip(available, counts, strict=True)]
        return rng.permutation(np.concatenate(drawn))

    def _counts(self, sizes: np.ndarray, sampling: Sampling) -> np.ndarray:
        """Sentences of each pair in an epoch, (pairs,)."""
        if sampling.own_share is None:
            return apportion(sizes, sampling.temperature)
        own = np.array([pair.own for pair in self.pairs])
        total = int(sizes.sum())
        of_own = round(sampling.own_share * total)
        counts = np.zeros(len(sizes), np.int64)
        for chosen, number in ((own, of_own), (~own, total - of_own)):
            counts[chosen] = apportion(sizes[chosen], sampling.temperature, number)
        return counts

    def num_tokens(self, index: int) -> int:
        return int(max(self.source_sizes[index], self.target_sizes[index]))

    def num_tokens_vec(self, indices: np.ndarray) -> np.ndarray:
        return np.maximum(self.source_sizes[indices], self.target_sizes[indices])

    def size(self, index: int) -> tuple[int, int]:
        return int(self.source_sizes[index]), int(self.target_sizes[index])

    def filter_indices_by_size(self, indices: np.ndarray, max_sizes: Any) -> tuple[np.ndarray, list[int]]:
        return data_utils.filter_paired_dataset_indices_by_size(
            self.source_sizes, self.target_sizes, indices, max_sizes
        )


def apportion(sizes: Sequence[int] | np.ndarray, temperature: float, total: int | None = None) -> np.ndarray:
    """Share an epoch of ``total`` sentences among pairs in proportion to size^(1/temperature).

    1 keeps the sizes; the higher the temperature, the more equal the shares (Arivazhagan et al. 2019, section 4.2).
    Fractions go to the pairs that they are largest of.

    Args:
        sizes: sentences of each pair, none of them 0.
        temperature: above 0.
        total: ``sum(sizes)`` where it is None.

    Returns:
        (pairs,) whole numbers that sum to the total.
    """
    total = int(np.sum(sizes)) if total is None else total
    logs = np.log(np.asarray(sizes, dtype=np.float64)) / temperature
    shares = np.exp(logs - logs.max())
    exact = total * shares / shares.sum()
    counts = np.floor(exact + 1e-9).astype(np.int64)
    missing = total - int(counts.sum())
    counts[np.argsort(counts - exact, kind="stable")[:missing]] += 1
    return counts


def draw(rows: np.ndarray, count: int, rng: np.random.Generator) -> np.ndarray:
    """``count`` of the rows: all of them as often as they fit, the rest without repetition by chance."""
    whole, rest = divmod(count, len(rows))
    return np.concatenate([np.tile(rows, whole), rng.choice(rows, rest, replace=False)])
