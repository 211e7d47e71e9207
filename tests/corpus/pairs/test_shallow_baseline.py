"""What lengths and marks alone tell of the labels."""

from __future__ import annotations

import numpy as np

from fairseq_xl.corpus.pairs.shallow_baseline import features, shallow_baseline


def test_lengths_that_give_labels_away_are_found():
    random = np.random.default_rng(3)
    sizes, equal = random.integers(1, 60, 200).tolist(), random.integers(0, 2, 200).tolist()
    pairs = [("a" * n, "b" * (n if same else n + 20)) for n, same in zip(sizes, equal, strict=True)]
    labels = [int(len(a) == len(b)) for a, b in pairs]
    folds = random.integers(0, 4, 200)
    assert min(shallow_baseline(pairs, labels, folds, 1).values()) > 0.95
    chance = shallow_baseline(pairs, random.integers(0, 2, 200), folds, 1)
    assert max(chance.values()) < 0.65


def test_features_by_hand():
    # Lengths 6 and 9; words 2 and 2; shared: 42; numbers: 42; marks: "!" and "!"; capitals: 1 and 0.
    found = features("Ab 42!", "cdefg 42!")
    assert found[:3] == [6, 9, 3]
    assert found[5:8] == [2, 2, 0]
    assert found[10:16] == [1, 2, 1 / 3, 1, 0, 1]
    assert found[16:] == [1, 0, 1, 1, 0]
    assert len(features("…", "")) == len(found)
