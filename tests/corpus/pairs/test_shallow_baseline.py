"""What lengths and marks alone tell of the labels."""

from __future__ import annotations

import numpy as np

from fairseq_xl.corpus.pairs.paraphrases import Labelled
from fairseq_xl.corpus.pairs.shallow_baseline import shallow_baseline


def test_lengths_that_give_labels_away_are_found():
    random = np.random.default_rng(3)
    sizes, equal = random.integers(1, 60, 200).tolist(), random.integers(0, 2, 200).tolist()
    pairs = [("a" * n, "b" * (n if same else n + 20)) for n, same in zip(sizes, equal, strict=True)]
    labels = [int(len(a) == len(b)) for a, b in pairs]
    folds = random.integers(0, 4, 200).tolist()

    def baseline(labels):
        rows = [Labelled(*pair, label, fold) for pair, label, fold in zip(pairs, labels, folds, strict=True)]
        return shallow_baseline([*rows, Labelled("a", "b", 1, None)], 1)

    assert min(baseline(labels).values()) > 0.95
    chance = baseline(random.integers(0, 2, 200).tolist())
    assert max(chance.values()) < 0.65
