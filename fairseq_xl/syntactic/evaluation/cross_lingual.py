"""Has the nearest sentence of another language the same structure? The test of "language agnostic" that the paper
lacks.

For each sentence of one language the nearest of another is looked up, and their tag sequences are compared. Long
sentences of two languages hardly ever share a whole sequence. Therefore the similarity of the sequences is measured,
too: the complement of their normalised Levenshtein distance. The results also say what the best, a random and the
parallel sentence would get. Equally near sentences count by their mean.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch

from fairseq_xl.syntactic.evaluation.cosines import TIE, Directions, Matrix, blocks
from fairseq_xl.syntactic.evaluation.similarity import similarities
from fairseq_xl.syntactic.tagging.tagged_text import TaggedText


def compare(
    queries: TaggedText,
    candidates: TaggedText,
    encoders: Sequence[tuple[Matrix, Matrix]],
    device: torch.device | str = "cpu",
) -> dict[str, Any]:
    """From the N sentences of one language to the M of another, for several encoders at once.

    Args:
        encoders: for each, embeddings (N, d) of the queries and (M, d) of the candidates.

    Returns:
        ``encoders`` has the following for each. ``same`` is the share in per cent of sentences whose nearest has the
        same tag sequence. ``similarity`` is the mean similarity of the nearest's tag sequence. ``translation`` is the
        share in per cent, of the sentences that have a translation, whose nearest is it (None where none has).
        ``translated`` is the share in per cent that has a translation, a candidate of the same number.
        ``same_attainable`` is the share that has a candidate of the same sequence. ``best`` and ``chance`` are the
        mean similarity of the most similar candidate and of all candidates. ``of_translation`` is that of the
        translation, over the sentences that have one (None where none has).
    """
    sides = [(Directions(mine, device), Directions(theirs, device)) for mine, theirs in encoders]
    parallel = bool(queries.numbers and candidates.numbers)
    numbers = [np.array(text.numbers, dtype=object) for text in (queries, candidates)]
    found = np.zeros((len(sides), 3))  # sums of same, similarity, translation
    best = chance = attainable = of_translation = 0.0
    translated = 0
    for start, stop in blocks(len(queries), len(candidates)):
        alike = similarities(queries.upos[start:stop], candidates.upos)  # (B, M)
        same = alike == 1
        best += alike.max(1).sum()
        chance += alike.mean(1).sum()
        attainable += same.any(1).sum()
        translations = np.zeros_like(same)
        if parallel:
            translations = numbers[0][start:stop, None] == numbers[1][None, :]
            of_translation += alike[translations].sum()
            translated += int(translations.sum())
        for place, (mine, theirs) in enumerate(sides):
            cosines = mine.cosines(start, stop, theirs)
            nearest = (cosines >= cosines.amax(1, keepdim=True) - TIE).cpu().numpy()
            share = nearest / nearest.sum(1, keepdims=True)
            found[place] += [float((share * values).sum()) for values in (same, alike, translations)]
    n = len(queries)
    return {
        "sentences": n,
        "same_attainable": 100 * float(attainable) / n,
        "best": float(best) / n,
        "chance": float(chance) / n,
        "translated": 100 * translated / n,
        "of_translation": float(of_translation) / translated if translated else None,
        "encoders": [
            {"same": 100 * s / n, "similarity": a / n, "translation": 100 * t / translated if translated else None}
            for s, a, t in found.tolist()
        ],
    }
