"""Unit vectors, and the frozen table of them that a model predicts into."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any, Literal, ParamSpec, TypeVar, get_args

import torch
from torch import Tensor, nn

Given = ParamSpec("Given")
Result = TypeVar("Result")
TargetNorm = Literal["check", "normalize", "trust"]
"""What a loss does with targets whose norm is not 1: refuse them, scale them, or trust the caller. A norm counts as 1
within a thousandth, or within what the targets' precision can tell. The first two read the targets once more, and on
CUDA they wait."""


def at_least_float32(x: Tensor) -> Tensor:
    """Half precision as float32, in which the statistics of a row are computed."""
    return x.float() if x.dtype in (torch.float16, torch.bfloat16) else x


def outside_autocast(function: Callable[Given, Result]) -> Callable[Given, Result]:
    """Decorate a function of predictions that tells near words apart: in half precision they would be equally near."""

    @wraps(function)
    def exact(*args: Given.args, **kwargs: Given.kwargs) -> Result:
        given = next(each for each in (*args, *kwargs.values()) if isinstance(each, Tensor))
        with torch.autocast(given.device.type, enabled=False):
            return function(*args, **kwargs)

    return exact


def inverse_or_zero(x: Tensor) -> Tensor:
    """1/x, and zero where x is zero."""
    return torch.where(x > 0, 1 / torch.where(x > 0, x, 1), 0)


def zero_if_rounding(distance: Tensor) -> Tensor:
    """The distance of unit vectors no further apart than rounding error has no direction."""
    return torch.where(distance > 4 * torch.finfo(distance.dtype).eps, distance, 0)


def unit_rows(pred: Tensor) -> Tensor:
    """û per row; zero, with zero gradient, where e = 0."""
    norm = torch.linalg.vector_norm(pred, dim=-1, keepdim=True)
    safe = torch.where(norm > 0, norm, torch.ones_like(norm))
    return torch.where(norm > 0, pred / safe, pred.detach())


def check_margin(margin: float) -> float:
    """A margin as it is given. Raises: ValueError: two cosines do not lie so far apart, or it is below 0."""
    if not 0 <= margin <= 2:
        raise ValueError(f"a margin is a difference of cosines, from 0 to 2, not {margin}")
    return margin


def check_shapes(pred: Tensor, target: Tensor | None = None, index: Tensor | None = None) -> None:
    """Refuse what torch would stretch to fit, such as one target for many predictions.

    Args:
        pred: raw predictions (…, d).
        target: (…, d), if given.
        index: (…) rows of a table, if given.

    Raises:
        ValueError: not one target for each prediction.
    """
    given, wanted = (target, pred.shape) if target is not None else (index, pred.shape[:-1])
    if given is not None and given.shape != wanted:
        what = "targets" if target is not None else "their rows of the table"
        raise ValueError(
            f"each prediction has one target: predictions of shape {tuple(pred.shape)} need {what} of shape "
            f"{tuple(wanted)}, not {tuple(given.shape)}"
        )


def unit_targets(target: Tensor, target_norm: TargetNorm = "check", may_be_zero: Tensor | None = None) -> Tensor:
    """Targets (…, d) that are of unit length, as far as ``target_norm`` says.

    Args:
        target: target vectors, or negatives.
        target_norm: see :data:`TargetNorm`.
        may_be_zero: (…,) bool, rows that stand for nothing, such as padding.

    Raises:
        ValueError: a row has another length, or when normalizing is zero or not finite; targets ask for a gradient,
            which they never get; ``target_norm`` is unknown.
    """
    if target.requires_grad:
        raise ValueError("the targets of a continuous loss are frozen: detach them")
    if target_norm not in get_args(TargetNorm):
        raise ValueError(f"target_norm is one of {', '.join(get_args(TargetNorm))}, not {target_norm!r}")
    if target_norm == "trust":
        return target
    wide = at_least_float32(target)
    norm = torch.linalg.vector_norm(wide, dim=-1)
    if target_norm == "normalize":
        usable = (norm > 0) & norm.isfinite()
    else:
        usable = (norm - 1).abs() <= max(1e-3, 4 * torch.finfo(target.dtype).eps)
    if may_be_zero is not None:
        usable |= may_be_zero & (norm == 0)
    if not usable.all():
        wrong = norm[~usable][0].item()
        cure = (
            "none has a direction" if target_norm == "normalize" else 'normalize them, or say target_norm="normalize"'
        )
        raise ValueError(f"{int((~usable).sum())} targets are not of unit length, the first has {wrong:g}: {cure}")
    if target_norm == "check":
        return target
    return (wide * inverse_or_zero(norm).unsqueeze(-1)).to(target.dtype)


def _described(value: object) -> str:
    """What somebody gave, for a sentence that refuses it."""
    if isinstance(value, Tensor):
        return f"one of {str(value.dtype).removeprefix('torch.')} of shape {tuple(value.shape)}"
    return f"an object of {type(value).__name__}"


class FrozenTable(nn.Module):
    """Frozen unit vectors, one row per word: what losses take negatives from and predictions are scored against.

    Buffers: ``table`` (V, d), float32 or wider also when the model is halved; ``banned`` (V,) bool, rows that are never
    predicted. Both are saved with a model, neither is a parameter. Only ``bias`` is one, if there is one.

    Args:
        table: (V, d) vectors.
        banned: (V,) bool; none is by default.
        target_norm: see :data:`TargetNorm`; the check is made here, once. Banned rows may be zero.
        bias: (V,) what each word scores beside its vector, learnt by ``vmf_posterior`` alone; none by default.

    Raises:
        ValueError: something else than such tensors; see :func:`unit_targets`, too.
    """

    table: Tensor
    banned: Tensor
    bias: nn.Parameter | None

    def __init__(
        self,
        table: Tensor,
        banned: Tensor | None = None,
        target_norm: TargetNorm = "check",
        bias: Tensor | None = None,
    ):
        super().__init__()
        if not isinstance(table, Tensor) or table.dim() != 2:
            raise ValueError(f"a table is a tensor of shape (words, dimensions), not {_described(table)}")
        banned = torch.zeros(table.shape[0], dtype=torch.bool, device=table.device) if banned is None else banned
        if not isinstance(banned, Tensor) or banned.dtype != torch.bool or banned.shape != table.shape[:1]:
            raise ValueError(
                f"banned says of each of the {len(table)} rows whether it is never predicted: give a tensor of bool of "
                f"shape ({len(table)},), not {_described(banned)}"
            )
        self.register_buffer("table", at_least_float32(unit_targets(table, target_norm, banned)))
        self.register_buffer("banned", banned)
        self.register_parameter("bias", None if bias is None else nn.Parameter(bias))
        self._rows: tuple[Tensor, Tensor] | None = None
        self._mean: Tensor | None = None

    @property
    def dim(self) -> int:
        return self.table.shape[1]

    def check_width(self, pred: Tensor) -> None:
        """See that predictions have as many numbers as the vectors. Raises: ValueError: they have not."""
        if pred.shape[-1] != self.dim:
            raise ValueError(
                f"predictions of {pred.shape[-1]} numbers do not fit a table whose vectors have {self.dim}: end the "
                f"model in a layer of {self.dim}"
            )

    def candidates(self) -> Tensor:
        """(M,) sorted rows that can be predicted."""
        return self._split()[0]

    def banned_rows(self) -> Tensor:
        """(B,) sorted rows that are never predicted."""
        return self._split()[1]

    def as_predicted(self, index: Tensor, unknown: int) -> Tensor:
        """Target rows (N,) as they can be predicted.

        Those that are banned count as the row ``unknown``, whose vector they share. Without this, that row would be a
        negative of its own vector.
        """
        return index.masked_fill(self.banned[index], unknown)

    def mean(self) -> Tensor:
        """(d,) mean of the vectors that can be predicted."""
        if self._mean is None:
            self._mean = self.table[self.candidates()].mean(0)
        return self._mean

    def _split(self) -> tuple[Tensor, Tensor]:
        # Found once: on CUDA `nonzero` makes the whole queue wait.
        if self._rows is None:
            self._rows = ((~self.banned).nonzero().squeeze(1), self.banned.nonzero().squeeze(1))
        return self._rows

    def forward(self, index: Tensor) -> Tensor:
        """Vectors (…, d) of rows (…)."""
        return self.table[index]

    def _load_from_state_dict(self, state_dict: dict[str, Tensor], prefix: str, *args: Any, **kwargs: Any) -> None:
        super()._load_from_state_dict(state_dict, prefix, *args, **kwargs)
        self._rows = self._mean = None

    def _apply(self, fn: Callable[[Tensor], Tensor], recurse: bool = True) -> FrozenTable:
        # Halving a model halves every buffer; neighbours 1e-3 apart would then tie. Follow the device alone.
        before = self.table
        super()._apply(fn, recurse)
        self._rows = self._mean = None
        if self.table.dtype != before.dtype:
            self.table = before.to(device=self.table.device)
        return self
