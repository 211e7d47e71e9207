"""What lengths and marks alone tell of the labels."""

from __future__ import annotations

import numpy as np

from fairseq_xl.corpus.pairs.shallow_baseline import shallow_baseline


def test_lengths_that_give_labels_away_are_found():
    random = np.random.default_rng(3)
    sizes, equal = random.integers(1, 60, 200).tolist(), random.integers(0, 2, 200).tolist()
    pairs = [("a" * n, "b" * (n if same else n + 20)) for n, same in zip(sizes, equal, strict=True)]
    labels = [int(len(a) == len(b)) for a, b in pairs]
    folds = random.integers(0, 4, 200)
    assert min(shallow_baseline(pairs, labels, folds, 1).values()) > 0.95
    chance = shallow_baseline(pairs, random.integers(0, 2, 200), folds, 1)
    assert max(chance.values()) < 0.65
