"""Where a margin loss's negative comes from (Bhat, Kumar & Tsvetkov 2019, section 3).

Synthetic negatives are unit vectors (N, d), negatives that are words are rows of a frozen table. None has a gradient:
the paper plugs negatives in as constants, so that they are not themselves optimised to lower the loss. û is the unit
vector along the raw prediction, u the target.
"""

from __future__ import annotations

import torch
from torch import Tensor

from fairseq_xl.losses.table import FrozenTable, at_least_float32, outside_autocast, unit_rows, zero_if_rounding


@torch.no_grad()
def uniform_negative_words(
    index: Tensor, targets: FrozenTable, k: int, generator: torch.Generator | None = None
) -> Tensor:
    """k words of the table drawn uniformly, with replacement, never the target itself.

    Args:
        index: (N,) row of each target.
        targets: the table; banned rows are not drawn.
        k: draws per target.
        generator: source of randomness on the table's device; torch's global one when omitted.

    Returns:
        (N, k) rows.

    Raises:
        ValueError: fewer than two words, so that no negative exists.
    """
    candidates = targets.candidates()
    count = candidates.shape[0]
    if count < 2:
        raise ValueError(f"negative sampling needs at least 2 words to draw from, not {count}")

    def draw(high: int) -> Tensor:
        return torch.randint(high, (index.shape[0], k), generator=generator, device=candidates.device)

    # Draw from one candidate fewer and step over the target: uniform over the others without rejection.
    place = torch.searchsorted(candidates, index)
    is_candidate = (candidates[place.clamp(max=count - 1)] == index).unsqueeze(1)
    drawn = draw(count - 1)
    drawn = drawn + (drawn >= place.unsqueeze(1)).long()
    return candidates[torch.where(is_candidate, drawn, draw(count))]


class Proposal:
    """The distribution q that shared negatives are sampled from.

    Args:
        banned: (V,) bool, the words that are never sampled.
        weights: (V,) not negative, which the words' probabilities are proportional to; uniform when omitted.

    Raises:
        ValueError: weights that are negative or not finite, that are not (V,), or leave nothing to draw.
    """

    def __init__(self, banned: Tensor, weights: Tensor | None = None):
        size = banned.shape[0]
        mass = torch.ones(size) if weights is None else weights.detach().cpu()
        if mass.shape != (size,) or not (mass >= 0).all() or not mass.isfinite().all():
            raise ValueError(f"a proposal needs {size} weights, finite and not negative")
        mass = mass.double().masked_fill(banned.cpu(), 0)
        if not mass.sum() > 0:
            raise ValueError("a proposal needs a word of weight above 0 to draw")
        self.banned = banned
        # In float64: in float32 the sums over a million words would round rare ones away.
        self.cumulative = (mass.cumsum(0) / mass.sum()).to(banned.device)
        self.probability = (mass / mass.sum()).to(banned.device)

    def draw(self, draws: int, generator: torch.Generator | None = None) -> Tensor:
        """The different words (M,) among ``draws`` draws with replacement, sorted."""
        device = self.cumulative.device
        place = torch.rand(draws, generator=generator, device=device, dtype=torch.float64)
        rows = torch.searchsorted(self.cumulative, place * self.cumulative[-1], right=True)
        return rows.clamp_(max=self.cumulative.shape[0] - 1).unique()

    def log_inclusion(self, words: Tensor, draws: int) -> Tensor:
        """log π (M,): how likely ``draws`` draws are to hold each of the words (M,)."""
        return (-torch.expm1(draws * torch.log1p(-self.probability[words]))).log()

    @torch.no_grad()
    def with_batch(self, index: Tensor, draws: int, generator: torch.Generator | None = None) -> tuple[Tensor, Tensor]:
        """The words that stand for all: those of the batch that are not banned, and sampled others.

        Args:
            index: (N,) targets.
            draws: how many words are drawn, with replacement; repeated ones and words of the batch are then dropped.
            generator: source of randomness on the device of ``banned``; torch's global one when omitted.

        Returns:
            (S,) words, those of the batch first and sorted, and −log π (S,) of each, 0 for those of the batch.
        """
        batch = index.unique()
        batch = batch[~self.banned[batch]]
        sampled = self.draw(draws, generator)
        sampled = sampled[~torch.isin(sampled, batch)]
        offset = -self.log_inclusion(sampled, draws)
        return torch.cat([batch, sampled]), torch.cat([offset.new_zeros(batch.shape), offset])


@outside_autocast
@torch.no_grad()
def in_batch_negative_words(
    pred: Tensor, index: Tensor, targets: FrozenTable, semi_hard: bool = False, chunk_elements: int = 2**24
) -> Tensor:
    """A negative for each row among the targets of all rows, never a word equal to the row's own target.

    The hardest is the word nearest to û. The semi-hard one is the nearest of those farther from û than the target is
    (Schroff et al. 2015, section 3.2). The paper leaves open what happens where every other word is nearer than the
    target. Some implementations drop such a row, which would leave the worst predictions without a gradient. Here it is
    the farthest, the word that comes closest to being semi-hard, as in TensorFlow's ``triplet_semihard_loss``.

    Args:
        pred: raw predictions (N, d).
        index: (N,) rows of the table that are the targets.
        targets: the table; banned rows are no negatives.
        semi_hard: which of the two.
        chunk_elements: the largest similarity matrix held at once; each different word of the batch is one column.

    Returns:
        (N,) rows of the table; the target itself where the batch has no other word.
    """
    if not index.numel():
        return index
    unit = unit_rows(at_least_float32(pred))
    words, place = index.unique(return_inverse=True)
    vectors = targets.table[words].to(unit.dtype)
    never = targets.banned[words]
    rows = max(1, chunk_elements // words.numel())
    chosen = []
    for part, own in zip(unit.split(rows), place.unsqueeze(1).split(rows), strict=True):
        similarity = part @ vectors.t()
        to_target = similarity.gather(1, own)
        similarity.scatter_(1, own, -torch.inf)
        similarity.masked_fill_(never, -torch.inf)
        hardest = similarity.max(1)
        best = hardest.indices
        if semi_hard:
            farther = similarity.masked_fill(similarity >= to_target, -torch.inf).max(1)
            farthest = similarity.masked_fill(similarity == -torch.inf, torch.inf).min(1)
            best = torch.where(farther.values > -torch.inf, farther.indices, farthest.indices)
        chosen.append(torch.where(hardest.values > -torch.inf, best, own.squeeze(1)))
    return words[torch.cat(chosen)]


@outside_autocast
@torch.no_grad()
def most_informative_negative_words(
    pred: Tensor, index: Tensor, targets: FrozenTable, chunk_elements: int = 2**24, half: bool | None = None
) -> Tensor:
    """The word of the table most similar to û − u (Lazaridou, Dinu & Baroni 2015), never the target itself.

    Args:
        pred: raw predictions (N, d).
        index: (N,) row of each target.
        targets: the table; banned rows may not be chosen.
        chunk_elements: the largest similarity matrix held at once; rows are taken in chunks of this over V.
        half: search in float16 first and decide among the few best in full precision. The answer is the same, and comes
            sooner where the hardware multiplies float16 faster. By default on CUDA only.

    Returns:
        (N,) rows.

    Raises:
        ValueError: fewer than two words, so that no negative exists.
    """
    if (count := len(targets.candidates())) < 2:
        raise ValueError(f"the most informative negative needs at least 2 words to choose from, not {count}")
    unit = unit_rows(at_least_float32(pred))
    table, banned = targets.table.to(unit.dtype), targets.banned_rows()
    direction = unit - table[index]
    best = torch.empty_like(index)
    half = table.is_cuda if half is None else half
    narrow = table.half() if half else None
    rows = max(1, chunk_elements // max(1, table.shape[0]))
    for start in range(0, direction.shape[0], rows):
        part = slice(start, start + rows)
        if narrow is None:
            best[part] = _best(direction[part], table, index[part], banned)
        else:
            best[part] = _best_by_halves(direction[part], table, narrow, index[part], banned)
    return best


def _similarity(direction: Tensor, table: Tensor, index: Tensor, banned: Tensor) -> Tensor:
    similarity = direction @ table.t()
    similarity.scatter_(1, index.unsqueeze(1), -torch.inf)
    return similarity.index_fill_(1, banned, -torch.inf)


def _best(direction: Tensor, table: Tensor, index: Tensor, banned: Tensor) -> Tensor:
    return _similarity(direction, table, index, banned).argmax(1)


def _best_by_halves(
    direction: Tensor, table: Tensor, narrow: Tensor, index: Tensor, banned: Tensor, few: int = 8
) -> Tensor:
    """:func:`_best`, and provably so: rows whose winner rounding could have hidden are searched again in full."""
    few = min(few, table.shape[0])
    found = _similarity(direction.half(), narrow, index, banned).topk(few, dim=1)
    exact = torch.einsum("nd,nkd->nk", direction, table[found.indices])
    exact = exact.masked_fill(found.values == -torch.inf, -torch.inf)
    value, place = exact.max(1)
    best = found.indices.gather(1, place.unsqueeze(1)).squeeze(1)
    # Rounding both factors and the product to 11 bits moves a similarity by less than three halves of 2⁻¹⁰ of the
    # lengths' product. Numbers below float16's normal ones add less than 2⁻²⁴ per dimension.
    length = torch.linalg.vector_norm(direction, dim=1)
    bound = 2**-9 * length + 2**-22 * direction.shape[1]
    unsure = value < found.values[:, -1].float() + bound
    if few < table.shape[0] and unsure.any():
        best[unsure] = _best(direction[unsure], table, index[unsure], banned)
    return best


@torch.no_grad()
def projection(pred: Tensor, target: Tensor) -> Tensor:
    """u_orth: the unit vector along the part of û orthogonal to u (section 3.2, Figure 1 top).

    (N, d) from (N, d) and (N, d), float32 from half precision. It is zero where û is zero or parallel to u, where no
    such direction exists.
    """
    unit, target = unit_rows(at_least_float32(pred)), at_least_float32(target)
    orthogonal = unit - (unit * target).sum(-1, keepdim=True) * target
    # A second pass takes out what rounding left along u: near û ∥ u the remainder is mostly that.
    orthogonal = orthogonal - (orthogonal * target).sum(-1, keepdim=True) * target
    return _direction(orthogonal)


@torch.no_grad()
def difference(pred: Tensor, target: Tensor) -> Tensor:
    """u_diff: the unit vector along û − u (section 3.2, Figure 1 bottom); (N, d); zero where û = u or û = 0."""
    unit, target = unit_rows(at_least_float32(pred)), at_least_float32(target)
    apart = torch.where((unit == 0).all(-1, keepdim=True), torch.zeros_like(unit), unit - target)
    return _direction(apart)


def _direction(x: Tensor) -> Tensor:
    """Differences x of unit vectors at length one; zero where rounding error is all of them."""
    length = x.norm(dim=-1, keepdim=True)
    return unit_rows(torch.where(zero_if_rounding(length) > 0, x, 0))
