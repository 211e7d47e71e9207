"""Where a margin loss's negative comes from (Bhat, Kumar & Tsvetkov 2019, section 3).

Every function returns unit vectors without gradient: the paper plugs negatives in as constants, so that they are
not themselves optimised to lower the loss. û is the unit vector along the raw prediction, u the target.
"""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import Tensor


def _unit(x: Tensor) -> Tensor:
    """Rows scaled to length one; a zero row stays zero."""
    return F.normalize(x, dim=-1, eps=torch.finfo(x.dtype).tiny)


@torch.no_grad()
def uniform_rows(
    table: Tensor,
    target_index: Tensor,
    k: int,
    generator: torch.Generator | None = None,
    candidates: Tensor | None = None,
) -> Tensor:
    """k rows of the table drawn uniformly, with replacement, never the row of the target itself.

    Args:
        table: unit rows (V, d).
        target_index: (N,) row of each target.
        k: draws per target.
        generator: source of randomness on the table's device; torch's global one when omitted.
        candidates: sorted (M,) rows that may be drawn (a table has rows, padding say, that are no word); all
            rows when omitted.

    Returns:
        (N, k) rows.

    Raises:
        ValueError: fewer than two candidates, so that no negative exists.
    """
    count = table.shape[0] if candidates is None else candidates.shape[0]
    if count < 2:
        raise ValueError(f"negative sampling needs at least 2 words to draw from, not {count}")
    shape = (target_index.shape[0], k)

    def draw(high: int) -> Tensor:
        return torch.randint(high, shape, generator=generator, device=table.device)

    # Draw from one candidate fewer and step over the target: uniform over the others without rejection.
    if candidates is None:
        drawn = draw(count - 1)
        return drawn + (drawn >= target_index.unsqueeze(1)).long()
    place = torch.searchsorted(candidates, target_index)
    is_candidate = (candidates[place.clamp(max=count - 1)] == target_index).unsqueeze(1)
    drawn = draw(count - 1)
    drawn = drawn + (drawn >= place.unsqueeze(1)).long()
    return candidates[torch.where(is_candidate, drawn, draw(count))]


def uniform(
    table: Tensor,
    target_index: Tensor,
    k: int,
    generator: torch.Generator | None = None,
    candidates: Tensor | None = None,
) -> Tensor:
    """The vectors (N, k, d) of :func:`uniform_rows`."""
    return table[uniform_rows(table, target_index, k, generator, candidates)].detach()


@torch.no_grad()
def most_informative_rows(
    pred: Tensor,
    target: Tensor,
    table: Tensor,
    target_index: Tensor,
    banned: Tensor | None = None,
    chunk_elements: int = 2**24,
    half: bool | None = None,
) -> Tensor:
    """The row of the table most similar to û − u (Lazaridou, Dinu & Baroni 2015), never the target's own.

    Args:
        pred: raw predictions (N, d).
        target: unit rows (N, d).
        table: unit rows (V, d).
        target_index: (N,) row of each target.
        banned: (B,) rows that may not be chosen, besides.
        chunk_elements: the largest similarity matrix held at once; rows are taken in chunks of this over V.
        half: search in float16 first and decide among the few best in full precision, which gives the same
            answer sooner where the hardware multiplies halves faster; by default on CUDA only.

    Returns:
        (N,) rows.
    """
    direction = _unit(pred) - target
    best = torch.empty_like(target_index)
    half = table.is_cuda if half is None else half
    narrow = table.half() if half else None
    rows = max(1, chunk_elements // max(1, table.shape[0]))
    for start in range(0, direction.shape[0], rows):
        part = slice(start, start + rows)
        if narrow is None:
            best[part] = _best(direction[part], table, target_index[part], banned)
        else:
            best[part] = _best_by_halves(direction[part], table, narrow, target_index[part], banned)
    return best


def _similarity(direction: Tensor, table: Tensor, target_index: Tensor, banned: Tensor | None) -> Tensor:
    similarity = direction @ table.t()
    similarity.scatter_(1, target_index.unsqueeze(1), -torch.inf)
    if banned is not None:
        similarity.index_fill_(1, banned, -torch.inf)
    return similarity


def _best(direction: Tensor, table: Tensor, target_index: Tensor, banned: Tensor | None) -> Tensor:
    return _similarity(direction, table, target_index, banned).argmax(1)


def _best_by_halves(
    direction: Tensor, table: Tensor, narrow: Tensor, target_index: Tensor, banned: Tensor | None, few: int = 8
) -> Tensor:
    """:func:`_best`, and provably so: rows whose winner rounding could have hidden are searched again in full."""
    few = min(few, table.shape[0])
    found = _similarity(direction.half(), narrow, target_index, banned).topk(few, dim=1)
    exact = torch.einsum("nd,nkd->nk", direction, table[found.indices])
    exact = exact.masked_fill(found.values == -torch.inf, -torch.inf)
    value, place = exact.max(1)
    best = found.indices.gather(1, place.unsqueeze(1)).squeeze(1)
    # Rounding both factors and the product to 11 bits moves a similarity by less than three halves of 2⁻¹⁰ of
    # the lengths' product; what is below float16's normal numbers adds less than 2⁻²⁴ per dimension.
    length = torch.linalg.vector_norm(direction, dim=1)
    bound = 2**-9 * length + 2**-22 * direction.shape[1]
    unsure = value < found.values[:, -1].float() + bound
    if few < table.shape[0] and unsure.any():
        best[unsure] = _best(direction[unsure], table, target_index[unsure], banned)
    return best


def most_informative(
    pred: Tensor,
    target: Tensor,
    table: Tensor,
    target_index: Tensor,
    banned: Tensor | None = None,
    chunk_elements: int = 2**24,
) -> Tensor:
    """The vectors (N, d) of :func:`most_informative_rows`."""
    return table[most_informative_rows(pred, target, table, target_index, banned, chunk_elements)].detach()


@torch.no_grad()
def projection(pred: Tensor, target: Tensor) -> Tensor:
    """u_orth: the unit vector along the part of û orthogonal to u (section 3.2, Figure 1 top).

    (N, d) from (N, d) and (N, d); zero where û is zero or parallel to u, where no such direction exists.
    """
    unit = _unit(pred)
    orthogonal = unit - (unit * target).sum(-1, keepdim=True) * target
    # A second pass takes out what rounding left along u: near û ∥ u the remainder is mostly that.
    orthogonal = orthogonal - (orthogonal * target).sum(-1, keepdim=True) * target
    return _unit(_zero_if_rounding(orthogonal))


@torch.no_grad()
def difference(pred: Tensor, target: Tensor) -> Tensor:
    """u_diff: the unit vector along û − u (section 3.2, Figure 1 bottom); (N, d); zero where û = u or û = 0."""
    unit = _unit(pred)
    apart = torch.where((unit == 0).all(-1, keepdim=True), torch.zeros_like(unit), unit - target)
    return _unit(_zero_if_rounding(apart))


def _zero_if_rounding(x: Tensor) -> Tensor:
    """Differences of unit vectors no longer than rounding error have no direction."""
    length = x.norm(dim=-1, keepdim=True)
    return torch.where(length > 4 * torch.finfo(x.dtype).eps, x, torch.zeros_like(x))
