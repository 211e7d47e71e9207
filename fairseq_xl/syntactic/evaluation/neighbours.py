"""Do a sentence's nearest neighbours have its tag sequence? (Liu, De Andrade & Osama 2019, section 4.1.1)

Sentences with the same UPOS sequence are a group. The k-NN accuracy of sentence i is |N(i, k) ∩ G(i)| / k: the share
of its k nearest others, by cosine, that are of its group. It is averaged over sentences.

The paper takes the order of the neighbours as unique. In some baselines, however, sentences of the same length have the
same embedding. Where several are equally near the k-th, the accuracy is the mean over all ways to choose among them: (A
+ (k − a)·T/t) / k. Here a sentences are nearer, A of them of the group, and t are equally near, T of them of the group.
The order of the sentences in the file then does not matter.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from torch import Tensor

from fairseq_xl.io.errors import InputError
from fairseq_xl.syntactic.evaluation.cosines import TIE, Directions, Matrix, blocks

KS = (1, 5)


def group_numbers(patterns: Sequence[tuple[str, ...]]) -> np.ndarray:
    """(N,): equal numbers for equal tag sequences, counted from 0 in order of appearance."""
    numbers: dict[tuple[str, ...], int] = {}
    return np.array([numbers.setdefault(pattern, len(numbers)) for pattern in patterns], dtype=np.int64)


def accuracies(
    vectors: Matrix, groups: np.ndarray, ks: Sequence[int] = KS, device: torch.device | str = "cpu"
) -> np.ndarray:
    """k-NN accuracy of each sentence for each k, (N, len(ks)), by comparing all pairs.

    Args:
        vectors: (N, d) embeddings.
        groups: (N,) the group of each.

    Raises:
        InputError: not more sentences than the largest k.
    """
    rows = Directions(vectors, device)
    most = max(ks)
    if len(rows) <= most:
        raise InputError(f"{len(rows)} sentences are too few for {most} neighbours of each: give more sentences")
    numbers = torch.from_numpy(groups).to(device)
    result = np.empty((len(rows), len(ks)))
    for start, stop in blocks(len(rows), len(rows), "nearest neighbours"):
        cosines = rows.cosines(start, stop, rows)
        queries = torch.arange(stop - start, device=cosines.device)
        cosines[queries, start + queries] = -torch.inf  # no sentence is its own neighbour
        largest = cosines.topk(most).values  # (B, K)
        query, other = (cosines >= largest[:, -1:] - TIE).nonzero(as_tuple=True)  # the K nearest and their equals
        mate = numbers[other] == numbers[start + query]
        for column, k in enumerate(ks):
            share = expected_share(query, cosines[query, other], mate, largest[:, k - 1], k)
            result[start:stop, column] = share.cpu().numpy()
    return result


def expected_share(query: Tensor, cosine: Tensor, mate: Tensor, kth: Tensor, k: int, tie: float = TIE) -> Tensor:
    """Share of mates among the k nearest of each of B queries, (B,), the mean over the orders of equally near ones.

    Args:
        query, cosine, mate: (P,) each: candidates, of which query, how near, and whether of its group. All that are
            as near as the k-th must be among them.
        kth: (B,) the cosine of the k-th nearest.
        tie: largest difference of cosines that count as equal.
    """
    gap = cosine - kth[query]
    nearer, equal = gap > tie, gap.abs() <= tie

    def count(chosen: Tensor) -> Tensor:
        return torch.bincount(query[chosen], minlength=len(kth)).double()

    return (count(nearer & mate) + (k - count(nearer)) * count(equal & mate) / count(equal)) / k


def attainable(groups: np.ndarray, ks: Sequence[int] = KS) -> np.ndarray:
    """(N, len(ks)): what an embedding gets that has every group apart: min(k, |G| − 1) / k."""
    mates = np.bincount(groups)[groups] - 1
    return np.stack([np.minimum(k, mates) / k for k in ks], axis=1)


def chance(groups: np.ndarray) -> float:
    """Mean accuracy of neighbours drawn at random, the same for every k."""
    return float((np.bincount(groups)[groups] - 1).mean() / (len(groups) - 1))


def summary(found: np.ndarray, ks: Sequence[int] = KS) -> dict[str, float]:
    """Means over sentences in per cent, by "1-NN", "5-NN", …"""
    return {f"{k}-NN": 100 * float(mean) for k, mean in zip(ks, found.mean(0), strict=True)}


def describe(patterns: Sequence[tuple[str, ...]], ks: Sequence[int] = KS) -> dict[str, Any]:
    """Size and difficulty of an evaluation set: ``sentences``, ``groups``, and the ``smallest`` and ``largest`` group;
    the ``attainable`` accuracies and ``chance`` in per cent. ``length`` says how many sentences and groups have each
    length in tags, because short groups are easy."""
    groups = group_numbers(patterns)
    sizes = np.bincount(groups)
    first = {pattern: len(pattern) for pattern in patterns}  # a group each
    lengths = np.array([len(pattern) for pattern in patterns])
    by_size = {
        str(n): {"sentences": int((lengths == n).sum()), "groups": list(first.values()).count(n)}
        for n in np.unique(lengths).tolist()
    }
    return {
        "sentences": len(groups),
        "groups": len(sizes),
        "smallest": int(sizes.min()),
        "largest": int(sizes.max()),
        "attainable": summary(attainable(groups, ks), ks),
        "chance": 100 * chance(groups),
        "length": by_size,
    }


def by_length(found: np.ndarray, patterns: Sequence[tuple[str, ...]], ks: Sequence[int] = KS) -> dict[str, Any]:
    """Means in per cent of the accuracies (N, len(ks)) of N sentences: of all, and of each ``length`` in tags."""
    lengths = np.array([len(pattern) for pattern in patterns])
    parts = {str(n): summary(found[lengths == n], ks) for n in np.unique(lengths).tolist()}
    return {**summary(found, ks), "length": parts}
