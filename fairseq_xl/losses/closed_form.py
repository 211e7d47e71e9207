r"""Losses that need the target alone, with their gradients in closed form.

Each is a function L(c, κ) of the cosine c = ûᵀu and the norm κ = ‖e‖ of the raw prediction e alone. Its gradient is
therefore a combination of two rows that are there already, ∂L/∂e = a·û + b·u. The forward pass reads e and u once and
keeps the scalars κ, a and b. The backward pass reads e and u again and writes the gradient. Apart from the predictions,
nothing of their size is kept. A loss is a small object, a :class:`ClosedForm`, which gives L, a and b.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import lru_cache, partial
from typing import Any, ClassVar, NamedTuple

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable

from fairseq_xl.losses.table import at_least_float32, check_shapes, inverse_or_zero

KERNELS = ("auto", "plain", "compiled")
"""``compiled`` fuses each pass into one kernel by ``torch.compile``, which also gathers the target rows from the table.
``plain`` does the same arithmetic operator by operator. ``auto`` compiles on CUDA only: a CPU spends so little of a
training step here that compiling would not pay."""


class Rows(NamedTuple):
    """What a loss finds in one pass over predictions and targets, each (N,), in float32 or wider."""

    loss: Tensor
    cosine: Tensor
    """c = ûᵀu, without gradient; 0 where e = 0."""
    kappa: Tensor
    """‖e‖, without gradient."""


class Geometry(NamedTuple):
    """N predictions and their targets, as a loss sees them."""

    e: Tensor
    """(N, d) raw predictions"""
    u: Tensor
    """(N, d) unit targets"""
    cosine: Tensor
    """(N,) c"""
    kappa: Tensor
    """(N,) κ"""
    inverse: Tensor
    """(N,) 1/κ, and 0 where κ = 0"""


class ClosedForm:
    """A loss of the target alone whose gradient is known in closed form.

    Subclasses are frozen dataclasses whose fields are the loss's parameters.
    """

    name: ClassVar[str]

    def value_and_gradient(self, at: Geometry) -> tuple[Tensor, Tensor, Tensor]:
        """L, and a and b of the gradient a·û + b·u; each (N,)."""
        raise NotImplementedError  # abstract: each subclass is one loss

    def prepare(self, dim: int) -> None:
        """Compute what depends on the dimension alone, which ``torch.compile`` else would trace."""

    def rows(self, pred: Tensor, table: Tensor, index: Tensor | None = None) -> Rows:
        """One loss per row, and the cosine and norm that it was computed from.

        Args:
            pred: raw predictions (N, d).
            table: unit rows, which nobody checks: the targets (N, d) themselves, or with ``index`` a table (V, d).
            index: (N,) rows of the table that are the targets.

        Raises:
            ValueError: the targets ask for a gradient, which a frozen table never gets; see
                :func:`~fairseq_xl.losses.table.check_shapes`; ``FAIRSEQ_XL_KERNELS``.
        """
        check_shapes(pred, None if index is not None else table, index)
        if table.requires_grad:
            raise ValueError("the targets of a continuous loss are frozen: detach them")
        return Rows(*_TwoPasses.apply(pred, table, index, self))


class _TwoPasses(torch.autograd.Function):
    @staticmethod
    def forward(
        ctx: Any, pred: Tensor, table: Tensor, index: Tensor | None, loss: ClosedForm
    ) -> tuple[Tensor, Tensor, Tensor]:
        forward_pass = _kernels(pred)[0]
        loss.prepare(pred.shape[-1])
        value, cosine, kappa, along, toward = forward_pass(loss, pred, table, index)
        ctx.save_for_backward(pred, table, index, kappa, along, toward)
        ctx.mark_non_differentiable(cosine, kappa)
        return value, cosine, kappa

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, upstream: Tensor, *_: Tensor) -> tuple[Tensor | None, ...]:
        backward_pass = _kernels(upstream)[1]
        return backward_pass(upstream, *ctx.saved_tensors), None, None, None


def _forward_pass(loss: ClosedForm, pred: Tensor, table: Tensor, index: Tensor | None) -> tuple[Tensor, ...]:
    """L, c, κ, and a and b of the gradient a·û + b·u; each (N,)."""
    e = at_least_float32(pred)
    u = (table if index is None else table[index]).to(e.dtype)
    kappa = torch.linalg.vector_norm(e, dim=-1)
    inverse = inverse_or_zero(kappa)
    cosine = (e * u).sum(-1) * inverse
    value, along, toward = loss.value_and_gradient(Geometry(e, u, cosine, kappa, inverse))
    return value, cosine, kappa, along, toward


def _backward_pass(
    upstream: Tensor, pred: Tensor, table: Tensor, index: Tensor | None, kappa: Tensor, along: Tensor, toward: Tensor
) -> Tensor:
    """∂L/∂e (N, d) from what :func:`_forward_pass` found."""
    e = at_least_float32(pred)
    u = (table if index is None else table[index]).to(e.dtype)
    # û first: 1/κ can be large, and its products with other factors larger than a float
    gradient = e * inverse_or_zero(kappa).unsqueeze(-1)
    gradient = gradient.mul_((upstream * along).unsqueeze(-1))
    return gradient.addcmul_((upstream * toward).unsqueeze(-1), u).to(pred.dtype)


def kernels_setting() -> str:
    """``FAIRSEQ_XL_KERNELS``, which chooses among ``KERNELS``; ``auto`` when it is not set.

    Raises:
        ValueError: it is set to something else.
    """
    setting = os.environ.get("FAIRSEQ_XL_KERNELS", "auto")
    if setting not in KERNELS:
        raise ValueError(f"FAIRSEQ_XL_KERNELS is {setting!r}: choose one of {', '.join(KERNELS)}")
    return setting


def _kernels(x: Tensor) -> tuple[Callable[..., Any], Callable[..., Any]]:
    setting = kernels_setting()
    compiled = setting == "compiled" or (setting == "auto" and x.is_cuda and _has_triton())
    return _compiled() if compiled else (_forward_pass, _backward_pass)


@lru_cache(maxsize=1)
def _has_triton() -> bool:
    try:
        import triton  # noqa: F401
    except ImportError:
        return False
    return True


@lru_cache(maxsize=1)
def _compiled() -> tuple[Callable[..., Any], Callable[..., Any]]:
    compiled = [torch.compile(function) for function in (_forward_pass, _backward_pass)]

    def call(function: Callable[..., Any], *arguments: Any) -> Any:
        for argument in arguments:
            if isinstance(argument, Tensor):
                # Every batch has another number of rows; the dimension, which stays, unrolls better when known.
                torch._dynamo.maybe_mark_dynamic(argument, 0)
        return function(*arguments)

    return partial(call, compiled[0]), partial(call, compiled[1])
