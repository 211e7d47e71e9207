"""Going on after a kill: from ``checkpoint_last.pt``, or from the newest intact checkpoint where
that is torn."""

from __future__ import annotations

import logging
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch

from fairseq_xl.compat.loading import is_intact, is_zip, why_unusable
from fairseq_xl.compat.patching import replace
from fairseq_xl.errors import InputError

logger = logging.getLogger(__name__)


def fall_back_from_torn_checkpoints() -> None:
    """Resume from the newest intact checkpoint when ``checkpoint_last.pt`` is torn, and say so.

    Broken: fairseq reads ``checkpoint_last.pt`` only, and a stock run that was killed (or a full
        disk, or an
    interrupted copy between machines) can have left it torn. Beside it, an :class:`InputError`
    that a model raises about its checkpoint is hidden behind "please ensure that the architectures
    match".
    """
    from fairseq.trainer import Trainer

    def mend(stock: Callable[..., Any]) -> Callable[..., Any]:
        def load_checkpoint(self: Any, filename: str, *args: Any, **kwargs: Any) -> Any:
            suffix = self.checkpoint_suffix
            path = Path(filename)
            if (
                path.name == f"checkpoint_last{suffix}.pt"
                and path.is_file()
                and not is_intact(path)
            ):
                filename = str(newest_intact(path.parent, suffix))
                logger.warning(
                    "%s is torn (its writing was interrupted): going on from %s, the newest intact one",
                    path,
                    filename,
                )
            try:
                return stock(self, filename, *args, **kwargs)
            except Exception as error:
                hidden = _input_error_behind(error)
                if hidden is None or hidden is error:
                    raise
                raise hidden from None

        return load_checkpoint

    replace(Trainer, "load_checkpoint", mend)


def newest_intact(folder: Path, suffix: str = "") -> Path:
    """The intact checkpoint in ``folder`` with the most updates; the youngest file of those with
    equally many.

    Only names that fairseq-train gives count: what a crash dumped or somebody averaged is no state
    to resume.

    Raises:
        InputError: there is none.
    """
    names = re.compile(
        rf"checkpoint(\d+|_\d+_\d+|_best|\.best_.+){re.escape(suffix)}\.pt",
    )
    ages: list[tuple[int, float, Path]] = []
    for path in folder.iterdir():
        if names.fullmatch(path.name) and why_unusable(path) is None:
            ages.append((_updates(path), path.stat().st_mtime, path))
    for _, _, path in sorted(ages, reverse=True):
        if is_intact(path):
            return path
    raise InputError(
        f"{folder}/checkpoint_last{suffix}.pt is torn and no other intact checkpoint is in that folder; "
        "remove it to start afresh, or name a good one with --restore-file"
    )


def _updates(path: Path) -> int:
    """How many updates a readable checkpoint has seen (its tensors stay on the disk)."""
    state = torch.load(path, map_location="cpu", weights_only=True, mmap=is_zip(path))
    history = state.get("optimizer_history") or [{}]
    return int(history[-1].get("num_updates", 0))


def _input_error_behind(error: BaseException | None) -> InputError | None:
    """The user's mistake that made this exception, if one did."""
    while error is not None:
        if isinstance(error, InputError):
            return error
        error = error.__cause__ or error.__context__
    return None
