"""Pages into a test split and folds, so that no page, and no sentence, is on two sides.

Sentences that repeat would tie all pages of a site together, if pages with a common sentence had to stay together.
Lines of many pages are therefore left out. Each other sentence belongs to the first page that has it
(:mod:`~fairseq_xl.corpus.pairs.positives`). Only near copies stay together: pages that share a good part of their
sentences. The search for negatives is then within a fold (:mod:`~fairseq_xl.corpus.pairs.negatives`), so both of their
sentences are from its pages.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Sequence

import numpy as np
from scipy import sparse
from scipy.sparse.csgraph import connected_components

from fairseq_xl.io.errors import InputError

TEST = -1
WIDEST = (2.0, 1.0, 0.5, 0.0)
"""How many bins' worth of a topic stays together, tried in turn. With 0 it goes wherever two groups of it can."""


def near_copies(pages: Sequence[set[int]], count: int, share: float) -> np.ndarray:
    """(count,) the group of each page. Sharing ``share`` or more of the smaller one's sentences links pages.

    Args:
        pages: numbers of the pages that have each sentence.
        count: of the pages.
    """
    rows = [page for having in pages for page in having]
    columns = np.repeat(np.arange(len(pages)), [len(having) for having in pages])
    holds = sparse.csr_matrix((np.ones(len(rows)), (rows, columns)), (count, len(pages)))
    size = np.asarray(holds.sum(1)).ravel()
    common = (holds @ holds.T).tocoo()
    smaller = np.minimum(size[common.row], size[common.col])
    keep = common.data >= share * smaller
    links = (common.data[keep], (common.row[keep], common.col[keep]))
    return connected_components(sparse.coo_matrix(links, common.shape), directed=False)[1]


def assign(
    group: np.ndarray, topic: Sequence[int], weight: np.ndarray, folds: int, test: float, seed: int
) -> np.ndarray:
    """(M,) the fold of each page, 0 to folds - 1, or TEST.

    The folds and the test split are bins to be filled. A negative is a sentence of another page of the same topic and
    bin. A topic therefore stays in one bin, unless it would fill several. Each bin that it goes to gets two groups of
    it. Topics are broken up further only where some bin would stay less than half full. The emptiest bin takes the next
    group.

    Args:
        group: (M,) of pages that stay together. They go where the topic of the first one goes.
        topic: (M,) of each page.
        weight: (M,) sentences of each page.
        folds: how many.
        test: share of the sentences for the test split, from 0 to below 1.
        seed: of the order.

    Raises:
        InputError: a bin would be empty.
    """
    random = np.random.default_rng(seed)
    size = np.bincount(group, weight)
    target = size.sum() * np.array([(1 - test) / folds] * folds + ([test] if test > 0 else []))
    _, first = np.unique(group, return_index=True)
    members: dict[int, list[int]] = defaultdict(list)
    for number in random.permutation(len(size)).tolist():
        if size[number]:
            members[topic[first[number]]].append(number)
    topics = sorted(members.values(), key=lambda one: (-size[one].sum(), one))
    for widest in WIDEST:
        chosen, filled = _pack(topics, size, target, widest * target.min())
        if (filled >= target / 2).all():
            break
    if not filled.all():
        raise InputError(
            f"{int((size > 0).sum())} pages or groups of near copies in {len(members)} topics are too few for "
            f"{folds} folds{' and a test split' if test > 0 else ''}: take fewer folds or topics, or more pages"
        )
    return np.where(chosen == folds, TEST, chosen)[group]


def _pack(
    topics: Sequence[list[int]], size: np.ndarray, target: np.ndarray, widest: float
) -> tuple[np.ndarray, np.ndarray]:
    """The bin of each group, and each bin's sentences. A topic goes to a bin for each ``widest`` sentences."""
    filled, chosen = np.zeros(len(target)), np.zeros(len(size), int)
    for topic in topics:
        numbers = sorted(topic, key=lambda number: -size[number])
        wanted = math.ceil(size[numbers].sum() / widest) if widest else len(numbers)
        open_bins = np.argsort(filled / target, kind="stable")[: max(1, min(wanted, len(numbers) // 2))]
        taken = np.zeros(len(target), int)
        for number in numbers:
            # Each bin gets two groups first. Then the emptiest bin gets the next.
            lacking = open_bins[taken[open_bins] < 2]
            choice = lacking if len(lacking) else open_bins
            best = choice[np.argmin(filled[choice] / target[choice])]
            chosen[number], taken[best] = best, taken[best] + 1
            filled[best] += size[number]
    return chosen, filled
