"""One model whose weights are the mean of several checkpoints'."""

from __future__ import annotations

import math
import re
from collections.abc import Hashable, Sequence
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from fairseq_xl.io.atomic import atomic_binary
from fairseq_xl.io.errors import InputError
from fairseq_xl.io.progress import progress_bar
from fairseq_xl.training import checkpoints

# How a batch norm counts its batches: the one integer that differs within a training run.
_COUNTER = "num_batches_tracked"


def write_average(paths: Sequence[Path], output: Path) -> None:
    """Write the :func:`average` of checkpoints, wholly or not at all.

    Raises:
        InputError: checkpoints that are unusable or of different models, or an output that cannot be written.
    """
    state = average(paths)
    with atomic_binary(output) as file:
        torch.save(state, file)


def choose(folder: Path, last: int | None = None, best: int | None = None) -> list[Path]:
    """The checkpoints of the ``last`` epochs, newest first, or the ``best`` by validation, best first.

    Raises:
        InputError: no folder, or fewer checkpoints than asked for.
    """
    if not folder.is_dir():
        raise InputError(f"{folder} is not a folder; give the one that training saved its checkpoints in")
    kind, found = "of whole epochs", _of_epochs(folder) if best is None else []
    if best is not None:
        kind, found = "that were validated", _by_validation(folder)
    wanted = best or last or 0
    if len(found) < wanted:
        raise InputError(
            f"{folder} holds {len(found)} checkpoints {kind}, not {wanted}; ask for fewer, or keep "
            "more in training (no --no-epoch-checkpoints, a larger --keep-last-epochs)"
        )
    return found[:wanted]


def _of_epochs(folder: Path) -> list[Path]:
    numbered = [(re.fullmatch(r"checkpoint(\d+)\.pt", p.name), p) for p in folder.iterdir()]
    epochs = [(int(match[1]), path) for match, path in numbered if match]
    return [path for _, path in sorted(epochs, reverse=True)]


def _by_validation(folder: Path) -> list[Path]:
    """One file for each validated state: the same update is often saved under several names."""
    names = re.compile(r"checkpoint(\d+|_\d+_\d+|_best|_last|\.best_.+)\.pt")
    scored: dict[int, tuple[float, Path]] = {}
    for path in sorted(p for p in folder.iterdir() if names.fullmatch(p.name)):
        state = checkpoints.read(path)
        score = state.get("extra_state", {}).get("val_loss")
        if score is None or not math.isfinite(score):
            continue
        settings = (state.get("cfg") or {}).get("checkpoint", {})
        sign = -1.0 if settings.get("maximize_best_checkpoint_metric") else 1.0
        scored.setdefault(checkpoints.updates(state), (sign * float(score), path))
    return [path for _, path in sorted(scored.values())]


def average(paths: Sequence[Path]) -> dict[str, Any]:
    """A checkpoint with the mean weights.

    Weights are summed in float64 and cast back. What is the same everywhere (frozen tables) stays
    bit for bit; all that is not a weight comes from the first checkpoint.

    Args:
        paths: at least one checkpoint; with one, its weights are merely copied.

    Raises:
        InputError: a checkpoint cannot be used, or it does not fit the first.
    """
    first = checkpoints.read(paths[0])
    reference: dict[str, Tensor] = first["model"]
    totals: dict[str, Tensor] = {}
    differing: set[str] = set()
    for path in progress_bar("averaging", True, None, " checkpoints", paths):
        weights = checkpoints.read(path)["model"]
        _check_names(weights, reference, path, paths[0])
        for name, tensor in weights.items():
            _check_weight(name, tensor, reference[name], path, paths[0])
            if tensor.is_floating_point():
                totals[name] = tensor.double() + totals.get(name, 0)
                if not torch.equal(tensor, reference[name]):
                    differing.add(name)
    means = {name: totals[name] / len(paths) for name in differing}
    kept = {key: value for key, value in first.items() if key != "last_optimizer_state"}
    extra = {**(first.get("extra_state") or {}), "averaged": [str(path) for path in paths]}
    return {**kept, "model": _cast_and_tie(means, reference), "extra_state": extra}


def _check_names(weights: dict[str, Tensor], reference: dict[str, Tensor], path: Path, first: Path) -> None:
    for name in sorted(weights.keys() ^ reference.keys()):
        lacking, having = (path, first) if name in reference else (first, path)
        raise InputError(f"{lacking} has no `{name}`, which {having} has: average checkpoints of one model only")


def _check_weight(name: str, tensor: Tensor, reference: Tensor, path: Path, first: Path) -> None:
    if tensor.shape != reference.shape or tensor.dtype != reference.dtype:
        raise InputError(
            f"`{name}` is {_kind(tensor)} in {path} but {_kind(reference)} in {first}: average "
            "checkpoints of one model only"
        )
    if tensor.is_floating_point():
        if not torch.isfinite(tensor).all():
            raise InputError(f"`{name}` in {path} holds NaN or infinity; leave that checkpoint out")
    elif not name.endswith(_COUNTER) and not torch.equal(tensor, reference):
        raise InputError(
            f"`{name}` holds other whole numbers in {path} than in {first}, which cannot be "
            "averaged: the two are not of one training run with one dictionary"
        )


def _cast_and_tie(means: dict[str, Tensor], reference: dict[str, Tensor]) -> dict[str, Tensor]:
    """The means in the reference's types; one tensor under two names (tied weights) stays one."""
    model: dict[str, Tensor] = {}
    tied: dict[Hashable, Tensor] = {}
    for name, tensor in reference.items():
        place = (tensor.untyped_storage().data_ptr(), tensor.storage_offset(), tensor.shape, tensor.stride())
        if place not in tied:
            tied[place] = means[name].to(tensor.dtype) if name in means else tensor
        model[name] = tied[place]
    return model


def _kind(tensor: Tensor) -> str:
    return f"{tuple(tensor.shape)} {str(tensor.dtype).removeprefix('torch.')}"
