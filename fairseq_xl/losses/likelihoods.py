r"""The likelihood of the target among words of the frozen table: of the batch (InfoNCE), or of all (vMF's posterior).

With a uniform prior, a prediction e gives word v the probability p(v) ∝ exp(eᵀu_v + b_v). Here u_v is the word's row of
the table and b_v its bias, zero by default. This is the posterior over words of a von Mises-Fisher model, which
decoding ranks words by, and a softmax whose matrix is the table. The loss of the target w is

    L = log Z − (1−ε)(eᵀu_w + b_w) − ε(eᵀū + b̄),        Z = Σ_v exp(eᵀu_v + b_v),
    ∂L/∂e = Σ_v p(v) u_v − (1−ε) u_w − ε ū,

with label smoothing ε, and ū and b̄ the means over all words. The norm of e is free, so that it becomes the confidence
of the prediction.

Z may be estimated, so that the cost of a step does not depend on the size of the vocabulary. The different targets of
the batch count exactly. N shared samples, drawn with replacement from a proposal q, stand for all other words. A word
is sampled at least once with probability π_v = 1 − (1−q_v)ᴺ, and exp(eᵀu_v + b_v)/π_v estimates the rest of Z without
bias (Horvitz & Thompson 1952). Jean et al. (2015, section 3.1) sample for each partition of the corpus instead.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable

from fairseq_xl.losses.base import Reduction, TableLoss, cosine_and_norm
from fairseq_xl.losses.closed_form import Rows
from fairseq_xl.losses.negatives import Proposal
from fairseq_xl.losses.table import FrozenTable, at_least_float32, check_shapes, outside_autocast, unit_rows


@outside_autocast
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
        negatives: how many words are sampled beside those of the batch, for an estimate of Z; 0 sums over all words.
        proposal: what they are sampled from; uniform when omitted.
        generator: source of randomness on the table's device; torch's global one when omitted.
        chunk_elements: the largest block of scores held at once.

    Returns:
        (N,)

    Raises:
        ValueError: see :func:`~fairseq_xl.losses.table.check_shapes`.
    """
    check_shapes(pred, index=index)
    e, bias = at_least_float32(pred), targets.bias
    if negatives:
        words, offset = (proposal or Proposal(targets.banned)).with_batch(index, negatives, generator)
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


class _LogNormalizer(torch.autograd.Function):
    """log Σ_v exp(eᵀu_v + o_v) for (N, d), (S,) and (S, d): the vectors u get no gradient.

    The scores (N, S) exist a block of rows at a time. The gradient of e, as large as e, is found beside the sum; that
    of the offsets o needs the blocks again. Where all offsets are −∞, so is the sum, and its gradients are zero.
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
                torch.mm(_shares(scores, log_z[part]), vectors, out=mean[part])
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
                scores = torch.addmm(offset, e[part], vectors.t())
                of_offset += grad[part] @ _shares(scores, log_z[part])
        return None if mean is None else mean * grad.unsqueeze(1), of_offset, None, None


def _shares(scores: Tensor, log_z: Tensor) -> Tensor:
    """p (N, S) of scores (N, S), in their place."""
    return scores.sub_(log_z.masked_fill(log_z == -torch.inf, 0).unsqueeze(1)).exp_()


class VmfPosteriorLoss(TableLoss):
    """:func:`vmf_posterior` as a module; in evaluation mode Z is the sum over all words and nothing is smoothed.

    Args:
        label_smoothing: see there.
        negatives: see there.
        weights: (V,) of the :class:`Proposal`; uniform when omitted.
        reduction: how the rows' losses become one.
        generator: see there.
        chunk_elements: see there.

    Raises:
        ValueError: a label smoothing outside [0, 1), a negative number of draws.
    """

    learns_bias = True

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
            raise ValueError(f"vmf_posterior samples 0 words or more, not {negatives}")
        self.label_smoothing, self.negatives, self.weights = label_smoothing, negatives, weights
        self.generator, self.chunk_elements = generator, chunk_elements
        self._proposal: tuple[Tensor, Proposal] | None = None
        """with the words that it was made for, which a table that has moved or was loaded finds anew"""

    def rows(self, pred: Tensor, index: Tensor, targets: FrozenTable) -> Rows:
        smoothing, draws = (self.label_smoothing, self.negatives) if self.training else (0.0, 0)
        words = targets.candidates()
        if draws and (self._proposal is None or self._proposal[0] is not words):
            self._proposal = words, Proposal(targets.banned, self.weights)
        proposal = self._proposal[1] if self._proposal else None
        loss = vmf_posterior(pred, index, targets, smoothing, draws, proposal, self.generator, self.chunk_elements)
        return Rows(loss, *cosine_and_norm(pred, targets(index)))


@outside_autocast
def info_nce(
    pred: Tensor, index: Tensor, targets: FrozenTable, scale: float = 20.0, chunk_elements: int = 2**24
) -> Tensor:
    """−log exp(s·ûᵀu) / Σ_j exp(s·ûᵀu_j) over the different targets u_j of the batch (van den Oord, Li & Vinyals 2018).

    A word that is the target of several rows is counted once, so no row has its own target as a negative. The table
    is constant. Memory is that of a chunk of similarities.

    Args:
        pred: raw predictions (N, d).
        index: (N,) rows of the table that are the targets.
        targets: the table; banned rows are never predicted and so are no negatives.
        scale: s, an inverse temperature.
        chunk_elements: the largest similarity matrix held at once; each different word of the batch is one column.

    Returns:
        (N,); zero where the batch has no other word.

    Raises:
        ValueError: see :func:`~fairseq_xl.losses.table.check_shapes`.
    """
    check_shapes(pred, index=index)
    e = scale * unit_rows(at_least_float32(pred))
    words = index.unique()
    offset = torch.zeros(words.shape, dtype=e.dtype, device=e.device).masked_fill_(targets.banned[words], -torch.inf)
    log_z = _LogNormalizer.apply(e, offset, targets(words).to(e.dtype), chunk_elements)
    target = (e * targets(index).to(e.dtype)).sum(-1)
    # A target that is never predicted counts in its own row alone.
    return torch.where(targets.banned[index], torch.logaddexp(log_z, target), log_z) - target


class InfoNCELoss(TableLoss):
    """:func:`info_nce` as a module.

    Raises:
        ValueError: a scale that is not above 0.
    """

    def __init__(self, scale: float = 20.0, chunk_elements: int = 2**24, reduction: Reduction = "mean"):
        super().__init__(reduction)
        if not scale > 0:
            raise ValueError(f"info_nce needs a scale above 0, not {scale}")
        self.scale, self.chunk_elements = scale, chunk_elements

    def rows(self, pred: Tensor, index: Tensor, targets: FrozenTable) -> Rows:
        loss = info_nce(pred, index, targets, self.scale, self.chunk_elements)
        return Rows(loss, *cosine_and_norm(pred, targets(index)))
