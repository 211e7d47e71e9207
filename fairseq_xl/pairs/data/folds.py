"""Folds of pairs that share no sentence.

A model that has seen a question beside others knows something of it. In a split by row, nearly every question of the
development pairs is in the training pairs, too. The score then says little about new questions.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence

import numpy as np

from fairseq_xl.io.errors import InputError
from fairseq_xl.io.packages import require
from fairseq_xl.text.splits.linked import groups, number


def folds(
    pairs: Sequence[tuple[Hashable, Hashable]],
    count: int,
    method: str,
    seed: int,
    judged: Sequence[bool] | None = None,
) -> list[tuple[int, int]]:
    """The folds of each pair's two sentences. A sentence is in one fold.

    Args:
        pairs: of sentences.
        count: folds.
        method: what stays together. ``components`` keeps connected components, so that no pair lies across folds.
            ``communities`` keeps densely connected parts (Louvain, Blondel et al. 2008), for pairs that are all
            connected. Some pairs then lie across folds. ``sentences`` keeps nothing, and many pairs lie across.
        seed: of the draw.
        judged: which pairs the folds are to hold; all by default. What only the others have is in fold ``count``, which
            is never held out.

    Raises:
        InputError: a fold would be empty.
    """
    nodes = number(pairs)
    size = int(nodes.max(initial=-1)) + 1
    random = np.random.default_rng(seed)
    if method == "components":
        block = np.empty(size, dtype=int)
        block[nodes.ravel()] = np.repeat(groups(pairs), 2)
    elif method == "communities":
        block = _communities(nodes, size, seed)
    else:
        block = np.arange(size)
    held = np.ones(len(nodes), dtype=bool) if judged is None else np.asarray(judged, dtype=bool)
    fold = _packed(block, nodes[held], count, random)[nodes]
    inside = np.bincount(fold[held & (fold[:, 0] == fold[:, 1]), 0], minlength=count)
    if inside.min() == 0:
        raise InputError(
            f"{count} folds by {method}: one has no pair inside ({', '.join(map(str, inside))}). Take fewer folds, or "
            "keep less together: communities, then sentences"
        )
    return [(int(left), int(right)) for left, right in fold]


def translated_classes(pairs: Iterable[tuple[str, str]]) -> dict[str, str]:
    """One sentence that stands for all that translate each other, directly or through others, for each of them.

    Args:
        pairs: of a sentence and its translation.
    """
    links = list(pairs)
    first: dict[int, str] = {}
    return {
        sentence: first.setdefault(component, link[0])
        for link, component in zip(links, groups(links), strict=True)
        for sentence in link
    }


def _communities(nodes: np.ndarray, size: int, seed: int) -> np.ndarray:
    networkx = require("networkx", "pairs", "a split by communities")
    graph = networkx.Graph()
    graph.add_nodes_from(range(size))
    graph.add_edges_from(nodes.tolist())
    block = np.empty(size, dtype=int)
    for place, members in enumerate(networkx.community.louvain_communities(graph, seed=seed)):
        block[list(members)] = place
    return block


def _packed(block: np.ndarray, nodes: np.ndarray, count: int, random: np.random.Generator) -> np.ndarray:
    """(S,) the fold of each sentence. The block with most pairs goes first, into the fold with fewest so far.

    Blocks without a pair among ``nodes`` (N, 2) are in fold ``count``.
    """
    weight = np.bincount(block[nodes.ravel()], minlength=block.max(initial=-1) + 1)
    order = random.permutation(len(weight))
    order = order[np.argsort(-weight[order], kind="stable")]
    filled, home = np.zeros(count, dtype=int), np.empty(len(weight), dtype=int)
    for place in order:
        if weight[place] == 0:
            home[place] = count
            continue
        home[place] = filled.argmin()
        filled[home[place]] += weight[place]
    return home[block]
