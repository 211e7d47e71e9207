"""ESIM's equations in loops."""

from __future__ import annotations

import torch
from pair_classifiers import made, scores


def test_esim_in_loops(sentences):
    """Equations 11 to 20 word by word."""
    classifier = made("esim")
    left, right = sentences[1], sentences[3]

    def states(lstm, words):
        return lstm(words.unsqueeze(1), torch.tensor([len(words)]))[0].squeeze(1)

    a, b = states(classifier.read, left), states(classifier.read, right)
    energy = [[torch.dot(x, y) for y in b] for x in a]
    a_seen = [sum(w * y for w, y in zip(torch.stack(row).softmax(0), b, strict=True)) for row in energy]
    columns = zip(*energy, strict=True)
    b_seen = [sum(w * x for w, x in zip(torch.stack(c).softmax(0), a, strict=True)) for c in columns]
    pooled = []
    for own, seen in ((a, a_seen), (b, b_seen)):
        compared = [
            torch.relu(classifier.shrink(torch.cat([x, y, x - y, x * y]))) for x, y in zip(own, seen, strict=True)
        ]
        v = states(classifier.compose, torch.stack(compared))
        pooled += [v.mean(0), v.amax(0)]
    expected = classifier.decide(torch.cat(pooled))
    torch.testing.assert_close(scores(classifier, [left], [right]), expected, rtol=1e-5, atol=1e-6)
