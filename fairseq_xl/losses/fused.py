r"""The target-only losses with their gradients in closed form.

Each is a function L(c, κ) of the cosine c = ûᵀu and the length κ = ‖e‖ of the raw prediction e alone, so that its
gradient is a combination of two rows that are there already, ∂L/∂e = a·û + b·u. The forward pass reads e and u
once and keeps the scalars κ, a and b; the backward pass reads them again and writes the gradient. Nothing as large as
the predictions is kept but the predictions.

With the negative held constant, as Bhat et al. (2019, section 3.2) require, the scale-free losses have

    ∂L/∂e = w (cû − u) / κ,

w = 1 for the cosine, 1 + c/s for the projection and 1 + 1/r for the difference, where s = ‖û − cu‖ = sin and
r = ‖û − u‖; w = 0 where the hinge is inactive. The vMF likelihood has A_d(κ) û − λ₂ u + λ₁ û. By convention the
gradient is zero where a direction does not exist: at e = 0, at s = 0 and at r = 0.
"""

from __future__ import annotations

import math
import os
from collections.abc import Callable
from functools import lru_cache, partial
from typing import Any, NamedTuple

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable

from fairseq_xl.io.errors import InputError
from fairseq_xl.losses.bessel import log_bessel_and_ratio, prepare

KINDS = ("cosine", "syn_margin_proj", "syn_margin_diff", "vmf", "vmf_released")

KERNELS = ("auto", "plain", "compiled")
"""``compiled`` fuses each pass into one kernel by ``torch.compile``, which gathers the target rows from the table
inside it; ``plain`` is the same arithmetic operator by operator; ``auto`` compiles on CUDA alone, because a CPU
spends so little of a training step here that compiling would not pay."""


class Rows(NamedTuple):
    """What one pass over predictions and targets finds, each (N,), in float32 or wider."""

    loss: Tensor
    cosine: Tensor
    """c = ûᵀu, without gradient; 0 where e = 0."""
    kappa: Tensor
    """‖e‖, without gradient."""


def target_only(
    kind: str, pred: Tensor, table: Tensor, index: Tensor | None = None, first: float = 0.0, second: float = 0.0
) -> Rows:
    """One loss per row, and the angle and length that it was computed from.

    Args:
        kind: one of ``KINDS``.
        pred: raw predictions (N, d).
        table: unit rows: the targets (N, d) themselves, or with ``index`` a table (V, d).
        index: (N,) rows of the table that are the targets.
        first: the margin λ, or vMF's λ₁.
        second: vMF's λ₂.

    Raises:
        ValueError: an unknown kind; the targets ask for a gradient, which a frozen table never gets.
    """
    if table.requires_grad:
        raise ValueError("the targets of a continuous loss are frozen: detach them")
    return Rows(*_TargetOnly.apply(pred, table, index, kind, first, second))


class _TargetOnly(torch.autograd.Function):
    @staticmethod
    def forward(
        ctx: Any, pred: Tensor, table: Tensor, index: Tensor | None, kind: str, first: float, second: float
    ) -> tuple[Tensor, Tensor, Tensor]:
        rows = _kernels(pred)[0]
        if kind.startswith("vmf"):
            prepare(pred.shape[-1])
        value, cosine, kappa, along, toward = rows(pred, table, index, kind, first, second)
        ctx.save_for_backward(pred, table, index, kappa, along, toward)
        ctx.mark_non_differentiable(cosine, kappa)
        return value, cosine, kappa

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, upstream: Tensor, *_: Tensor) -> tuple[Tensor | None, ...]:
        gradient = _kernels(upstream)[1]
        return gradient(upstream, *ctx.saved_tensors), None, None, None, None, None


def at_least_float32(x: Tensor) -> Tensor:
    """Half precision as float32, in which the statistics of a row are computed."""
    return x.float() if x.dtype in (torch.float16, torch.bfloat16) else x


def inverse_or_zero(x: Tensor) -> Tensor:
    """1/x, and zero where x is zero."""
    return torch.where(x > 0, 1 / torch.where(x > 0, x, 1), 0)


def _zero_if_rounding(length: Tensor) -> Tensor:
    """The distance of unit vectors no further apart than rounding error has no direction."""
    return torch.where(length > 4 * torch.finfo(length.dtype).eps, length, 0)


def _rows(
    pred: Tensor, table: Tensor, index: Tensor | None, kind: str, first: float, second: float
) -> tuple[Tensor, Tensor, Tensor, Tensor, Tensor]:
    """L, c, κ, and a and b of the gradient a·û + b·u; each (N,)."""
    e = at_least_float32(pred)
    u = (table if index is None else table[index]).to(e.dtype)
    kappa = torch.linalg.vector_norm(e, dim=-1)
    inverse = inverse_or_zero(kappa)
    c = (e * u).sum(-1) * inverse
    if kind in ("vmf", "vmf_released"):
        log_i, ratio = log_bessel_and_ratio(kappa.double(), e.shape[-1])
        log_c = -(e.shape[-1] / 2 * math.log(2 * math.pi) + log_i).to(e.dtype)
        length = (kappa * ratio).to(e.dtype)
        if kind == "vmf":
            value = first * kappa - log_c - second * kappa * c
            return value, c, kappa, length + first, torch.full_like(c, -second)
        grown = torch.log1p(kappa)
        along = (0.2 - c) / (1 + kappa) + grown * c * inverse
        return grown * (0.2 - c) - log_c, c, kappa, length + along, -grown * inverse

    if kind == "cosine":
        value, weight = 1 - c, torch.ones_like(c)
    elif kind == "syn_margin_proj":
        unit = e * inverse.unsqueeze(-1)
        s = _zero_if_rounding(torch.linalg.vector_norm(unit - c.unsqueeze(-1) * u, dim=-1))
        value, weight = first + s - c, 1 + c * inverse_or_zero(s)
    elif kind == "syn_margin_diff":
        apart = torch.linalg.vector_norm(e * inverse.unsqueeze(-1) - u, dim=-1)
        r = torch.where(kappa > 0, _zero_if_rounding(apart), 0)
        # u_diffᵀû = (û − u)ᵀû / r = (1 − c) / r = r / 2
        value, weight = first + r / 2 - c, 1 + inverse_or_zero(r)
    else:
        raise ValueError(f"the target-only losses are {', '.join(KINDS)}; {kind!r} is none of them")
    if kind != "cosine":
        weight = torch.where(value > 0, weight, 0)
        value = value.clamp_min(0)
    return value, c, kappa, weight * c * inverse, -weight * inverse


def _gradient(
    upstream: Tensor, pred: Tensor, table: Tensor, index: Tensor | None, kappa: Tensor, along: Tensor, toward: Tensor
) -> Tensor:
    """∂L/∂e (N, d) from what :func:`_rows` found."""
    e = at_least_float32(pred)
    u = (table if index is None else table[index]).to(e.dtype)
    # û first: 1/κ can be large, and its products with other factors larger than a float
    gradient = e * inverse_or_zero(kappa).unsqueeze(-1)
    gradient = gradient.mul_((upstream * along).unsqueeze(-1))
    return gradient.addcmul_((upstream * toward).unsqueeze(-1), u).to(pred.dtype)


def kernels_setting() -> str:
    """``FAIRSEQ_XL_KERNELS``, which chooses among ``KERNELS``; ``auto`` when it is not set.

    Raises:
        InputError: it is set to something else.
    """
    setting = os.environ.get("FAIRSEQ_XL_KERNELS", "auto")
    if setting not in KERNELS:
        raise InputError(f"FAIRSEQ_XL_KERNELS is {setting!r}: choose one of {', '.join(KERNELS)}")
    return setting


def _kernels(x: Tensor) -> tuple[Callable[..., Any], Callable[..., Any]]:
    setting = kernels_setting()
    compiled = setting == "compiled" or (setting == "auto" and x.is_cuda and _has_triton())
    return _compiled() if compiled else (_rows, _gradient)


@lru_cache(maxsize=1)
def _has_triton() -> bool:
    try:
        import triton  # noqa: F401
    except ImportError:
        return False
    return True


@lru_cache(maxsize=1)
def _compiled() -> tuple[Callable[..., Any], Callable[..., Any]]:
    compiled = [torch.compile(function) for function in (_rows, _gradient)]

    def call(function: Callable[..., Any], *arguments: Any) -> Any:
        for argument in arguments:
            if isinstance(argument, Tensor):
                # Every batch has another number of rows; the dimension, which stays, unrolls better when known.
                torch._dynamo.maybe_mark_dynamic(argument, 0)
        return function(*arguments)

    return partial(call, compiled[0]), partial(call, compiled[1])
