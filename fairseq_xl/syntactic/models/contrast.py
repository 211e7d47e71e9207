"""Sentence embeddings that lie as near each other as the tags of the sentences are alike.

A supervised contrastive loss (Khosla et al. 2020) with shares instead of classes. Few sentences of a batch have exactly
the same tags, and many have similar ones.
"""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import Tensor

from fairseq_xl.losses.table import outside_autocast

LONGEST = 3
"""Tags of the n-grams that are compared, at most."""


def tag_similarity(tags: Tensor, pad: int) -> Tensor:
    """Cosine similarities (N, N), from 0 to 1, of the counts of n-grams of one to three tags.

    Args:
        tags: (N, T) whole numbers of 0 or more, padded at the end.
        pad: the number of padding; no n-gram with it counts.
    """
    base = int(tags.max()) + 1
    grams = torch.zeros_like(tags)
    is_gram = torch.ones_like(tags, dtype=torch.bool)
    counts = []
    for n in range(min(LONGEST, tags.shape[1])):
        end = tags.shape[1] - n
        grams = grams[:, :end] * base + tags[:, n:]
        is_gram = is_gram[:, :end] & tags[:, n:].ne(pad)
        found, column = grams.unique(return_inverse=True)
        count = torch.zeros(len(tags), len(found), device=tags.device)
        counts.append(count.scatter_add_(1, column, is_gram.float()))
    rows = F.normalize(torch.cat(counts, 1), dim=1)
    return rows @ rows.t()


@outside_autocast
def tag_contrast(vectors: Tensor, similarity: Tensor, temperature: float) -> Tensor:
    """KL divergence of the shares that a sentence's neighbours have by their vectors from those that they have by tags.

    Shares are softmaxes over the batch's other sentences: of their similarities, and of their vectors' cosines.

    Args:
        vectors: (N, D).
        similarity: (N, N), as :func:`tag_similarity` gives it; its diagonal is not read.
        temperature: of both softmaxes, above 0; the lower, the more the nearest alone count.

    Returns:
        a scalar of 0 or more, the mean over sentences; 0 for a single sentence.
    """
    count = len(vectors)
    others = ~torch.eye(count, dtype=torch.bool, device=vectors.device)
    unit = F.normalize(vectors if vectors.dtype == torch.float64 else vectors.float(), dim=1)
    cosines = (unit @ unit.t())[others].view(count, count - 1)
    wanted = similarity.to(cosines)[others].view(count, count - 1)
    if count == 1:
        return cosines.sum()
    found = (cosines / temperature).log_softmax(1)
    return F.kl_div(found, (wanted / temperature).log_softmax(1), reduction="batchmean", log_target=True)
