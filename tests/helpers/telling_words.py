"""Made-up sentences in which one word tells the class."""

from __future__ import annotations

import numpy as np


def sentences(count, seed, misleading=0.0):
    """Texts and classes: one telling word of ten for each class, among fillers of three hundred; a share misleads."""
    random = np.random.default_rng(seed)
    labels = np.arange(count) % 2
    texts = []
    for label in labels ^ (np.random.default_rng([seed, 1]).random(count) < misleading):
        words = [f"w{i}" for i in random.integers(0, 300, 5)]
        words.insert(random.integers(0, 6), f"{('bad', 'fine')[label]}{random.integers(0, 10)}")
        texts.append(" ".join(words))
    return texts, labels
