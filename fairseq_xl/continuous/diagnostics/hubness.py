"""Hubs: words that are among the nearest of far more vectors than their share.

N_k(w) counts the queries that have word w among their k nearest (Radovanović, Nanopoulos & Ivanović 2010, section
2). Were all words alike its distribution would be narrow; a long right tail, measured by the skewness
S = E[(N_k − μ)³]/σ³ over the words, means hubs.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from scipy import stats
from torch import Tensor

from fairseq_xl.continuous.models.targets import TargetTable
from fairseq_xl.io.progress import progress_bar
from fairseq_xl.losses import nearest


class Occurrences:
    """N_k of the words of a table.

    Args:
        candidates: (M,) rows that are words.
        size: V, rows of the table.
    """

    def __init__(self, candidates: Tensor, size: int):
        self.candidates = candidates.cpu()
        self.counts = torch.zeros(size, dtype=torch.long)
        self.queries = 0

    def update(self, words: Tensor, times: Tensor | None = None) -> None:
        """Count in the k nearest words (N, k) of N queries, each query ``times`` (N,) over where given."""
        if times is None:
            times = torch.ones(len(words), dtype=torch.long, device=words.device)
        weight = times.unsqueeze(1).expand_as(words)
        self.counts.index_add_(0, words.flatten().cpu(), weight.flatten().cpu())
        self.queries += int(times.sum())

    def skewness(self) -> float | None:
        """S, None where all words occur alike."""
        counts = self.counts[self.candidates].double()
        if (counts == counts[0]).all():
            return None
        return float(stats.skew(counts.numpy()))

    def result(self, symbols: Sequence[str], most: int = 10) -> dict[str, Any]:
        """``queries``; ``words`` M; ``skewness``; ``never``, the share of words with N_k = 0; ``hubs``, the
        words that occur most with their counts."""
        counts = self.counts[self.candidates]
        top = counts.topk(min(most, len(counts)))
        rows = self.candidates[top.indices].tolist()
        return {
            "queries": self.queries,
            "words": len(counts),
            "skewness": self.skewness(),
            "never": (counts == 0).double().mean().item(),
            "hubs": [[symbols[row], n] for row, n in zip(rows, top.values.tolist(), strict=True)],
        }


def of_targets(targets: TargetTable, times: Tensor, k: int) -> Occurrences:
    """N_k where the target vectors themselves are the queries, each ``times`` (V,) over.

    What a model would get that predicted every target exactly: each target is its own nearest word, as for the
    predictions. With it, hubs that frequent words and the table make are told from those that predicting makes.
    """
    found = Occurrences(targets.candidates(), len(targets.table))
    rows = times.nonzero().squeeze(1).to(targets.table.device)
    for part in rows.split(1024):
        _, words = nearest(targets.table[part], targets, k)
        found.update(words, times.to(part.device)[part])
    return found


def of_table(targets: TargetTable, k: int) -> Occurrences:
    """N_k among the words of the table, each a query once and never its own neighbour: the table's hubness."""
    rows = targets.candidates()
    found = Occurrences(rows, len(targets.table))
    parts = rows.split(1024)
    for part in progress_bar("hubs of the table", True, None, " blocks", parts):
        _, words = nearest(targets.table[part], targets, k + 1)
        itself = words == part.unsqueeze(1)
        # Others first, in their order. A word whose k + 1 nearest are all others, of its own vector, loses the last.
        others = words.gather(1, itself.long().argsort(dim=1, stable=True))[:, :k]
        found.update(others)
    return found
