"""From predicted vectors to scores over the vocabulary, exactly.

fairseq's generators ask a model for log-probabilities and search over those, so this file is all that decoding
continuous outputs takes: greedy and beam search, prefixes, constraints, ensembles and ``--score-reference`` work
on what it returns. κ = ‖e‖ is the norm of the raw prediction e and c_w its cosine to word w's vector.
"""

from __future__ import annotations

import torch
from torch import Tensor

from fairseq_xl.continuous.bessel import log_normalizer

SCORES = ("cosine", "vmf_posterior", "vmf_density")


def _unit(pred: Tensor) -> tuple[Tensor, Tensor]:
    pred = pred.float()
    norm = torch.linalg.vector_norm(pred, dim=-1, keepdim=True)
    return pred / norm.clamp_min(torch.finfo(pred.dtype).tiny), norm


def log_scores(
    pred: Tensor,
    table: Tensor,
    banned: Tensor,
    score: str = "cosine",
    scale: float = 20.0,
    temperature: Tensor | float = 1.0,
    penalty: Tensor | None = None,
    bonus: Tensor | None = None,
) -> Tensor:
    """Log-scores of every word.

    Args:
        pred: raw predictions (…, d).
        table: float32 unit rows (V, d).
        banned: (V,) bool, rows that are no word and score −∞.
        score: ``cosine``: p(w) ∝ exp(scale · c_w). ``vmf_posterior``: p(w) ∝ exp(κ c_w), the posterior over words
            under the predicted von Mises-Fisher distribution and a uniform prior. ``vmf_density``: log C_d(κ) +
            κ c_w, the density itself (Kumar & Tsvetkov 2019), not normalised over words: at one step it ranks
            them as the posterior does, over a beam it sums differently.
        scale: sharpness of ``cosine``. Greedy output does not depend on it, beam search does.
        temperature: divides κ or ``scale``.
        penalty: (V,) subtracted from each cosine, in units of cosine (hub correction).
        bonus: (V,) added to the final logits (a prior over words).

    Returns:
        (…, V) float32; one buffer of that size is made, and worked on in place.

    Raises:
        ValueError: unknown ``score``.
    """
    if score not in SCORES:
        raise ValueError(f"the decoding score is one of {', '.join(SCORES)}, not {score!r}")
    unit, norm = _unit(pred)
    logits = unit @ table.t()
    if penalty is not None:
        logits -= penalty
    sharpness = scale if score == "cosine" else norm
    logits *= sharpness / temperature
    if bonus is not None:
        logits += bonus
    logits.masked_fill_(banned, -torch.inf)
    if score == "vmf_density":
        logits += log_normalizer(norm / temperature, table.shape[1])
    else:
        logits -= logits.logsumexp(-1, keepdim=True)
    return logits


@torch.no_grad()
def nearest(
    pred: Tensor, table: Tensor, banned: Tensor, k: int = 1, chunk_elements: int = 2**24
) -> tuple[Tensor, Tensor]:
    """The k words nearest by cosine to each prediction.

    Args:
        pred: raw predictions (N, d).
        table: float32 unit rows (V, d).
        banned: (V,) bool, rows that are no word.
        k: how many.
        chunk_elements: the largest similarity matrix held at once.

    Returns:
        cosines (N, k), falling, and words (N, k).
    """
    rows = max(1, chunk_elements // max(1, table.shape[0]))
    cosines, words = [], []
    for start in range(0, pred.shape[0], rows):
        similarity = _unit(pred[start : start + rows])[0] @ table.t()
        similarity.masked_fill_(banned, -torch.inf)
        best = similarity.topk(min(k, table.shape[0]), dim=-1)
        cosines.append(best.values)
        words.append(best.indices)
    if not cosines:
        return pred.new_zeros(0, k), torch.zeros(0, k, dtype=torch.long, device=pred.device)
    return torch.cat(cosines), torch.cat(words)


@torch.no_grad()
def hubness(table: Tensor, banned: Tensor, k: int = 10) -> Tensor:
    """r(w): mean cosine of each word to its k nearest other words; zero for rows that are no word.

    A word in a crowd is near to many predictions that mean its neighbours. Subtracting r(w) from its cosine is
    the table's half of cross-domain similarity local scaling (CSLS; Conneau et al. 2018, section 2.3).

    Returns:
        (V,) float32
    """
    words = (~banned).nonzero().squeeze(1)
    cosines, _ = nearest(table[words], table, banned, k + 1)
    density = torch.zeros(table.shape[0], device=table.device)
    density[words] = cosines[:, 1:].mean(1)  # the first is the word itself
    return density
