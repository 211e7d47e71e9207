"""The equations of decomposable attention in loops."""

from __future__ import annotations

import pytest
import torch
from pair_classifiers import made, scores
from torch import nn

from fairseq_xl.pairs.models.decomposable import DISTANCES


@pytest.mark.parametrize("name", ["decomposable", "decomposable_intra", "decomposable_enhanced"])
def test_decomposable_attention_in_loops(sentences, name):
    """Equations 1 to 5, and 7 with its bias for distances; or comparison and pooling as in ESIM."""
    classifier, intra = made(name), name.endswith("intra")
    if intra:
        nn.init.normal_(classifier.intra.bias)

    def beside_its_own(words):
        if not intra:
            return list(words)
        seen = [classifier.intra.attend(word) for word in words]
        rows = []
        for i, word in enumerate(words):
            bias = [
                classifier.intra.bias[min(max(j - i, -DISTANCES), DISTANCES) + DISTANCES] for j in range(len(words))
            ]
            weights = torch.stack([torch.dot(seen[i], other) + d for other, d in zip(seen, bias, strict=True)]).softmax(
                0
            )
            rows.append(torch.cat([word, sum(w * x for w, x in zip(weights, words, strict=True))]))
        return rows

    a, b = beside_its_own(sentences[1]), beside_its_own(sentences[3])
    energy = torch.stack([torch.stack([torch.dot(classifier.attend(x), classifier.attend(y)) for y in b]) for x in a])
    beta = energy.softmax(1) @ torch.stack(b)
    alpha = energy.softmax(0).t() @ torch.stack(a)
    v1, v2 = [], []
    for found, words, seen in ((v1, a, beta), (v2, b, alpha)):
        for x, y in zip(words, seen, strict=True):
            more = [x - y, x * y] if name.endswith("enhanced") else []
            found.append(classifier.compare(torch.cat([x, y, *more])))
    if name.endswith("enhanced"):
        pooled = [part for v in (v1, v2) for part in (sum(v) / len(v), torch.stack(v).amax(0))]
    else:
        pooled = [sum(v1), sum(v2)]
    expected = classifier.decide(classifier.aggregate(torch.cat(pooled)))
    torch.testing.assert_close(scores(classifier, sentences[1:2], sentences[3:4]), expected, rtol=1e-5, atol=1e-6)
