"""How similarities to reference sentences, whose classes are known, turn into a class.

Source: Choudhary, Singh & Shrivastava 2018, "Cross-Lingual Task-Specific Representation Learning for Text
Classification in Resource Poor Languages", section 3.3.
"""

from __future__ import annotations

import torch.nn.functional as F
from torch import Tensor

from fairseq_xl.losses.table import outside_autocast
from fairseq_xl.siamese.models.contrastive import unit
from fairseq_xl.siamese.models.voting_options import RULES


@outside_autocast
def reference_scores(
    sentences: Tensor,
    references: Tensor,
    labels: Tensor,
    classes: int,
    rule: str = "matches",
    threshold: float = 0.5,
    neighbours: int = 15,
) -> Tensor:
    """A score of each class for each sentence, larger is better.

    ``matches``, the paper's rule, is the number of a class's references with cosine above the threshold. Counts are
    often equal: 0 where nothing is near, R where everything is. The mean cosine, scaled to less than one match, then
    decides between equal counts. Where classes have different numbers of references, the share of a class's references
    that match replaces the count. It is scaled to matches of the largest class. ``mean`` is the mean cosine to the
    class's references. ``knn`` is the number of the class among the nearest references; ties are decided in the same
    way. ``centroid`` is the cosine to the mean of the class's references.

    Args:
        sentences: (N, d) unit vectors.
        references: (R, d) unit vectors.
        labels: (R,) class of each reference; every class has one at least.
        classes: how many, C.
        rule: one of ``RULES``.
        threshold: cosine above which a reference matches; the paper's margin.
        neighbours: k of ``knn``.

    Returns:
        (N, C) float32.

    Raises:
        ValueError: unknown rule, or a class without references.
    """
    member = F.one_hot(labels, classes).float()  # (R, C)
    size = member.sum(0)
    if (size == 0).any():
        raise ValueError("a class has no reference sentence")
    if rule == "centroid":
        return sentences @ unit(member.t() @ references).t()
    cosine = sentences @ references.t()  # (N, R)
    mean = cosine @ member / size
    # In (0, 0.5): below one match, whatever the mean in [-1, 1].
    tie_break = (mean + 1.01) / 4.1
    if rule == "mean":
        return mean
    if rule == "matches":
        count = (cosine > threshold).float() @ member
        most = size.max()
        if (size < most).any():
            # Unequal shares are at least one part in most · most apart.
            return count * (most / size) + tie_break / most
        return count + tie_break
    if rule == "knn":
        nearest = cosine.topk(min(neighbours, len(references)), dim=1).indices
        return F.one_hot(labels[nearest], classes).sum(1).float() + tie_break
    raise ValueError(f"a rule is one of {', '.join(RULES)}, not {rule!r}")
