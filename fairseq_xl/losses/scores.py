"""From predicted vectors to scores over the vocabulary, exactly.

Greedy and beam search, prefixes, constraints and ensembles work on the log-probabilities of every word, which
``log_scores`` returns. A search that needs only the best few asks ``top_words``. κ = ‖e‖ is the norm of the raw
prediction e and c_w its cosine to word w's vector.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import torch
from torch import Tensor

from fairseq_xl.losses.bessel import vmf_log_normalizer
from fairseq_xl.losses.table import FrozenTable, outside_autocast

SCORES = ("cosine", "vmf_posterior", "vmf_density")


def _unit(pred: Tensor) -> tuple[Tensor, Tensor]:
    pred = pred.float()
    norm = torch.linalg.vector_norm(pred, dim=-1, keepdim=True)
    return pred / norm.clamp_min(torch.finfo(pred.dtype).tiny), norm


@dataclass(frozen=True)
class Scoring:
    """How a cosine to a word becomes its log-score.

    ``cosine``: p(w) ∝ exp(scale · c_w). ``vmf_posterior``: p(w) ∝ exp(κ c_w), the posterior over words under the
    predicted von Mises-Fisher distribution and a uniform prior. ``vmf_density``: log C_d(κ) + κ c_w, the density itself
    (Kumar & Tsvetkov 2019), which is not normalised over words. At one step it ranks words as the posterior does. Over
    a beam its sums differ.

    Raises:
        ValueError: unknown ``score``.
    """

    score: str = "cosine"
    scale: float = 20.0
    """Sharpness of ``cosine``. Greedy output does not depend on it, beam search does."""
    temperature: Tensor | float = 1.0
    """Divides κ or ``scale``; a number, or (…, 1) for predictions (…, d)."""
    penalty: Tensor | None = None
    """(V,) subtracted from each cosine, in units of cosine (hub correction)."""
    bonus: Tensor | None = None
    """(V,) added to the logits (a prior over words)."""

    def __post_init__(self) -> None:
        if self.score not in SCORES:
            raise ValueError(f"the decoding score is one of {', '.join(SCORES)}, not {self.score!r}")

    def unit_and_sharpness(self, pred: Tensor) -> tuple[Tensor, Tensor]:
        """û (…, d) and what multiplies the cosines (…, 1), both float32."""
        unit, norm = _unit(pred)
        sharpness = torch.full_like(norm, self.scale) if self.score == "cosine" else norm
        return unit, sharpness / self.temperature

    def logits(self, cosines: Tensor, sharpness: Tensor, words: Tensor | slice) -> Tensor:
        """From the cosines (…, W) of ``words``, rows of the table or (…, W) of them; works in place."""
        if self.penalty is not None:
            cosines -= self.penalty[words]
        cosines *= sharpness
        if self.bonus is not None:
            cosines += self.bonus[words]
        return cosines


@outside_autocast
def log_scores(pred: Tensor, targets: FrozenTable, scoring: Scoring) -> Tensor:
    """Log-scores of every word.

    Args:
        pred: raw predictions (…, d).
        targets: the table (V, d); banned rows score −∞.
        scoring: see there.

    Returns:
        (…, V) float32; one buffer of that size is made, and worked on in place.

    Raises:
        ValueError: predictions of another dimension than the table's.
    """
    targets.check_width(pred)
    unit, sharpness = scoring.unit_and_sharpness(pred)
    logits = scoring.logits(unit @ targets.table.t(), sharpness, slice(None))
    logits.masked_fill_(targets.banned, -torch.inf)
    if scoring.score == "vmf_density":
        logits += vmf_log_normalizer(sharpness, targets.dim)
    else:
        # In blocks of rows: logsumexp makes a second buffer as large as its argument.
        blocks = logits.view(-1, logits.shape[-1]).split(max(1, 2**20 // logits.shape[-1]))
        total = torch.cat([block.logsumexp(-1) for block in blocks])
        logits -= total.view(*logits.shape[:-1], 1)
    return logits


class TopWords(NamedTuple):
    """The best words of each of N predictions, best first."""

    log_scores: Tensor
    """(N, k)"""
    words: Tensor
    """(N, k)"""
    shift: Tensor
    """(N, 1), what was added to the logits of all words to make log-scores of them."""


@outside_autocast
def top_words(
    pred: Tensor,
    targets: FrozenTable,
    k: int,
    scoring: Scoring,
    reserved: int = 0,
    chunk_elements: int = 2**22,
) -> TopWords:
    """The k best words of each row of :func:`log_scores`, which never exists: the table passes by in blocks.

    Args:
        pred: raw predictions (N, d).
        targets: as there.
        scoring: as there.
        k: how many words; no more than there are.
        reserved: rows at the head of the table (special tokens) that count in the normaliser and are not returned.
        chunk_elements: the largest block of scores held at once.

    Raises:
        ValueError: predictions of another dimension than the table's.
    """
    targets.check_width(pred)
    unit, sharpness = scoring.unit_and_sharpness(pred)
    rows, size = unit.shape[0], targets.table.shape[0]
    best = torch.full((rows, 0), -torch.inf, device=unit.device)
    words = torch.zeros((rows, 0), dtype=torch.long, device=unit.device)
    total = torch.full((rows, 1), -torch.inf, device=unit.device)
    block = max(reserved + 1, chunk_elements // max(1, rows))
    for start in range(0, size, block):
        part = slice(start, min(start + block, size))
        logits = scoring.logits(unit @ targets.table[part].t(), sharpness, part)
        logits.masked_fill_(targets.banned[part], -torch.inf)
        if scoring.score != "vmf_density":
            total = torch.logaddexp(total, logits.logsumexp(-1, keepdim=True))
        if start == 0:
            logits[:, :reserved] = -torch.inf
        found = logits.topk(min(k, logits.shape[1]), dim=1)
        best = torch.cat([best, found.values], 1)
        words = torch.cat([words, found.indices + start], 1)
        best, place = best.topk(min(k, best.shape[1]), dim=1)
        words = words.gather(1, place)
    shift = _shift(total, sharpness, targets.dim, scoring)
    return TopWords(best + shift, words, shift)


def best_words(pred: Tensor, targets: FrozenTable) -> Tensor:
    """The word (N,) that greedy search takes for each prediction (N, d), without any correction of scores.

    It is the nearest, or the most probable by ``vmf_posterior`` where the table has a bias.
    """
    if targets.bias is None:
        return nearest(pred, targets)[1].squeeze(-1)
    return top_words(pred, targets, 1, Scoring("vmf_posterior", bonus=targets.bias.detach())).words.squeeze(-1)


@outside_autocast
def top_of(pred: Tensor, targets: FrozenTable, words: Tensor, k: int, scoring: Scoring, reserved: int = 0) -> TopWords:
    """:func:`top_words` among only some words of each row, which an approximate index has found.

    The normaliser, too, sums over only these words and the reserved rows. Scores are therefore a little too high, by
    the weight of the words left out.

    Args:
        words: (N, W) rows of the table; −1 where the index found fewer than W.
    """
    unit, sharpness = scoring.unit_and_sharpness(pred)
    absent = words < 0
    logits = word_logits(unit, sharpness, targets, words.clamp_min(0), scoring)
    logits = logits.masked_fill(absent, -torch.inf)
    special = torch.arange(reserved, device=words.device).expand(words.shape[0], -1)
    head = word_logits(unit, sharpness, targets, special, scoring)
    head = head.masked_fill(targets.banned[:reserved], -torch.inf)
    total = torch.cat([head, logits], 1).logsumexp(-1, keepdim=True)
    shift = _shift(total, sharpness, targets.dim, scoring)
    best, place = logits.topk(min(k, logits.shape[1]), dim=1)
    # What is absent scores −∞, and has to be a word all the same.
    return TopWords(best + shift, words.clamp_min(0).gather(1, place), shift)


@outside_autocast
def word_logits(unit: Tensor, sharpness: Tensor, targets: FrozenTable, words: Tensor, scoring: Scoring) -> Tensor:
    """Logits (N, W) of words (N, W), from :meth:`Scoring.unit_and_sharpness` of predictions (N, d)."""
    cosines = torch.bmm(targets.table[words], unit.unsqueeze(-1)).squeeze(-1)
    return scoring.logits(cosines, sharpness, words)


def _shift(total: Tensor, sharpness: Tensor, dim: int, scoring: Scoring) -> Tensor:
    return vmf_log_normalizer(sharpness, dim) if scoring.score == "vmf_density" else -total


@outside_autocast
@torch.no_grad()
def nearest(pred: Tensor, targets: FrozenTable, k: int = 1, chunk_elements: int = 2**24) -> tuple[Tensor, Tensor]:
    """The k words nearest by cosine to each prediction.

    Args:
        pred: raw predictions (N, d).
        targets: the table (V, d); banned rows are no words.
        k: how many; all words where there are fewer.
        chunk_elements: the largest similarity matrix held at once.

    Returns:
        cosines (N, k), falling, and words (N, k).

    Raises:
        ValueError: predictions of another dimension than the table's.
    """
    targets.check_width(pred)
    rows = max(1, chunk_elements // max(1, targets.table.shape[0]))
    k = min(k, targets.candidates().shape[0])
    cosines, words = [], []
    for start in range(0, pred.shape[0], rows):
        similarity = _unit(pred[start : start + rows])[0] @ targets.table.t()
        similarity.masked_fill_(targets.banned, -torch.inf)
        best = similarity.topk(k, dim=-1)
        cosines.append(best.values)
        words.append(best.indices)
    if not cosines:
        return pred.new_zeros(0, k), torch.zeros(0, k, dtype=torch.long, device=pred.device)
    return torch.cat(cosines), torch.cat(words)


@torch.no_grad()
def hubness(targets: FrozenTable, k: int = 10) -> Tensor:
    """r(w): mean cosine of each word to its k nearest other words; zero for rows that are no word, and for an only one.

    A word in a crowd is near to many predictions that mean its neighbours. Subtracting r(w) from its cosine is
    the table's half of cross-domain similarity local scaling (CSLS; Conneau et al. 2018, section 2.3).

    Returns:
        (V,) float32
    """
    words = targets.candidates()
    cosines, _ = nearest(targets(words), targets, k + 1)
    density = torch.zeros(targets.table.shape[0], device=words.device)
    if cosines.shape[1] > 1:  # the first is the word itself
        density[words] = cosines[:, 1:].mean(1)
    return density


class Hubs:
    """:func:`hubness` of a table's words, found once."""

    def __init__(self) -> None:
        self._found: tuple[Tensor, Tensor] | None = None

    def of(self, targets: FrozenTable) -> Tensor:
        """(V,), found anew where the table has moved or was loaded."""
        words = targets.candidates()
        if self._found is None or self._found[0] is not words:
            self._found = words, hubness(targets)
        return self._found[1]


def word_bonus(targets: FrozenTable, prior: Tensor | None) -> Tensor | None:
    """(V,) to add to each word's logit, if anything: the prior, and the bias that was learnt for the word."""
    if targets.bias is None:
        return prior
    bias = targets.bias.detach().float()
    return bias if prior is None else prior + bias
