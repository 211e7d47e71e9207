r"""The likelihood of the target under the von Mises-Fisher posterior over words, which is what decoding ranks words by.

With a uniform prior, a prediction e gives word v the probability p(v) ∝ exp(eᵀu_v + b_v), where u_v is its row of the
frozen table and b_v its bias, zero by default. The loss of the target w is

    L = log Z − (1−ε)(eᵀu_w + b_w) − ε(eᵀū + b̄),        Z = Σ_v exp(eᵀu_v + b_v),
    ∂L/∂e = Σ_v p(v) u_v − (1−ε) u_w − ε ū,

with label smoothing ε, and ū and b̄ the means over all words. The norm of e is free, so that it becomes the confidence
of the prediction. It is a softmax whose matrix is the frozen table.

Z may be estimated, so that a step costs the same whatever the vocabulary: the different targets of the batch count
exactly, and N shared draws with replacement from a proposal q stand for all other words. A word drawn at least once has
been included with probability π_v = 1 − (1−q_v)ᴺ, and exp(eᵀu_v + b_v)/π_v estimates the rest of Z without bias
(Horvitz & Thompson 1952; Jean et al. 2015, section 3.1, sample per partition of the corpus instead).
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable

from fairseq_xl.losses.base import Reduction, TableLoss, cosine_and_norm
from fairseq_xl.losses.kernels import Rows
from fairseq_xl.losses.table import FrozenTable, at_least_float32


class Proposal:
    """The distribution q that words are drawn from.

    Args:
        targets: the table; banned rows are never drawn.
        weights: (V,) not negative, of which the draws' probabilities are multiples; uniform when omitted.

    Raises:
        ValueError: weights that are negative or not finite, that are not (V,), or leave nothing to draw.
    """

    def __init__(self, targets: FrozenTable, weights: Tensor | None = None):
        size = targets.table.shape[0]
        mass = torch.ones(size) if weights is None else weights.detach().cpu()
        if mass.shape != (size,) or not (mass >= 0).all() or not mass.isfinite().all():
            raise ValueError(f"a proposal needs {size} weights, finite and not negative")
        mass = mass.double().masked_fill(targets.banned.cpu(), 0)
        if not mass.sum() > 0:
            raise ValueError("a proposal needs a word of weight above 0 to draw")
        device = targets.table.device
        # In float64: in float32 the sums over a million words would round rare ones away.
        self.cumulative = (mass.cumsum(0) / mass.sum()).to(device)
        self.probability = (mass / mass.sum()).to(device)

    def draw(self, draws: int, generator: torch.Generator | None = None) -> Tensor:
        """The different words (M,) among ``draws`` draws with replacement, sorted."""
        device = self.cumulative.device
        place = torch.rand(draws, generator=generator, device=device, dtype=torch.float64)
        rows = torch.searchsorted(self.cumulative, place * self.cumulative[-1], right=True)
        return rows.clamp_(max=self.cumulative.shape[0] - 1).unique()

    def log_inclusion(self, words: Tensor, draws: int) -> Tensor:
        """log π (M,): how likely ``draws`` draws are to hold each of the words (M,)."""
        return (-torch.expm1(draws * torch.log1p(-self.probability[words]))).log()


def vmf_posterior(
    pred: Tensor,
    index: Tensor,
    targets: FrozenTable,
    label_smoothing: float = 0.0,
    negatives: int = 0,
    proposal: Proposal | None = None,
    generator: torch.Generator | None = None,
    chunk_elements: int = 2**22,
) -> Tensor:
    """−log p(w) of the target w, where p(v) ∝ exp(eᵀu_v + b_v) over all words v of the table.

    Args:
        pred: raw predictions (N, d).
        index: (N,) rows of the table that are the targets.
        targets: the table, which gets no gradient; banned rows have no probability. Its ``bias``, if any, is b.
        label_smoothing: ε, the share of the target's probability that all words share.
        negatives: how many words are drawn beside those of the batch, for an estimate of Z; 0 sums over all words.
        proposal: what they are drawn from; uniform when omitted.
        generator: source of randomness on the table's device; torch's global one when omitted.
        chunk_elements: the largest block of scores held at once.

    Returns:
        (N,)
    """
    e, bias = at_least_float32(pred), targets.bias
    if negatives:
        words, offset = _batch_and_drawn(index, targets, proposal or Proposal(targets), negatives, generator)
        vectors, offset = targets(words).to(e.dtype), offset.to(e.dtype)
        offset = offset if bias is None else offset + bias[words]
    else:
        vectors, offset = targets.table.to(e.dtype), e.new_zeros(targets.table.shape[0])
        offset.index_fill_(0, targets.banned_rows(), -torch.inf)
        offset = offset if bias is None else offset + bias
    log_z = _LogNormalizer.apply(e, offset, vectors, chunk_elements)
    wanted = targets(index).to(e.dtype)
    if label_smoothing:
        wanted = torch.lerp(wanted, targets.mean().to(e.dtype), label_smoothing)
    loss = log_z - (e * wanted).sum(-1)
    if bias is None:
        return loss
    return loss - (1 - label_smoothing) * bias[index] - label_smoothing * bias[targets.candidates()].mean()


@torch.no_grad()
def _batch_and_drawn(
    index: Tensor, targets: FrozenTable, proposal: Proposal, draws: int, generator: torch.Generator | None
) -> tuple[Tensor, Tensor]:
    """The words (S,) that stand for all, and −log π of each (S,)."""
    batch = index.unique()
    batch = batch[~targets.banned[batch]]
    drawn = proposal.draw(draws, generator)
    drawn = drawn[~torch.isin(drawn, batch)]
    offset = -proposal.log_inclusion(drawn, draws)
    return torch.cat([batch, drawn]), torch.cat([offset.new_zeros(batch.shape), offset])


class _LogNormalizer(torch.autograd.Function):
    """log Σ_v exp(eᵀu_v + o_v) for (N, d), (S,) and (S, d): the vectors u get no gradient.

    The scores (N, S) exist a block of rows at a time. The gradient of e, as large as e, is found beside the sum; that
    of the offsets o needs the blocks again.
    """

    @staticmethod
    def forward(ctx: Any, e: Tensor, offset: Tensor, vectors: Tensor, chunk_elements: int) -> Tensor:
        ctx.rows = max(1, chunk_elements // max(1, vectors.shape[0]))
        log_z, mean = e.new_empty(e.shape[0]), torch.empty_like(e) if ctx.needs_input_grad[0] else None
        for start in range(0, e.shape[0], ctx.rows):
            part = slice(start, start + ctx.rows)
            scores = torch.addmm(offset, e[part], vectors.t())
            log_z[part] = scores.logsumexp(1)
            if mean is not None:
                torch.mm(scores.sub_(log_z[part].unsqueeze(1)).exp_(), vectors, out=mean[part])
        ctx.save_for_backward(e, offset, vectors, log_z, mean)
        return log_z

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor | None, Tensor | None, None, None]:
        e, offset, vectors, log_z, mean = ctx.saved_tensors
        of_offset = None
        if ctx.needs_input_grad[1]:
            of_offset = torch.zeros_like(offset)
            for start in range(0, e.shape[0], ctx.rows):
                part = slice(start, start + ctx.rows)
                scores = torch.addmm(offset, e[part], vectors.t()).sub_(log_z[part].unsqueeze(1)).exp_()
                of_offset += grad[part] @ scores
        return None if mean is None else mean * grad.unsqueeze(1), of_offset, None, None


class VmfPosteriorLoss(TableLoss):
    """:func:`vmf_posterior` as a module; in evaluation mode Z is the sum over all words and nothing is smoothed.

    Args:
        label_smoothing, negatives, generator, chunk_elements: see there.
        weights: (V,) of the :class:`Proposal`; uniform when omitted.

    Raises:
        ValueError: a label smoothing outside [0, 1), a negative number of draws.
    """

    def __init__(
        self,
        label_smoothing: float = 0.0,
        negatives: int = 0,
        weights: Tensor | None = None,
        reduction: Reduction = "mean",
        generator: torch.Generator | None = None,
        chunk_elements: int = 2**22,
    ):
        super().__init__(reduction)
        if not 0 <= label_smoothing < 1:
            raise ValueError(f"label smoothing is from 0 to below 1, not {label_smoothing}")
        if negatives < 0:
            raise ValueError(f"vmf_posterior draws 0 words or more, not {negatives}")
        self.label_smoothing, self.negatives, self.weights = label_smoothing, negatives, weights
        self.generator, self.chunk_elements = generator, chunk_elements
        self._proposal: Proposal | None = None

    def rows(self, pred: Tensor, index: Tensor, targets: FrozenTable) -> Rows:
        smoothing, draws = (self.label_smoothing, self.negatives) if self.training else (0.0, 0)
        if draws and (self._proposal is None or self._proposal.cumulative.device != targets.table.device):
            self._proposal = Proposal(targets, self.weights)
        loss = vmf_posterior(
            pred, index, targets, smoothing, draws, self._proposal, self.generator, self.chunk_elements
        )
        return Rows(loss, *cosine_and_norm(pred, targets(index)))
