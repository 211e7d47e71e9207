"""Checkpoints that are there wholly or not at all."""

from __future__ import annotations

import logging
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch

from fairseq_xl.compat.patching import replace
from fairseq_xl.training.checkpoints import TEMPORARY, atomic_file

logger = logging.getLogger(__name__)


def write_checkpoints_atomically() -> None:
    """Never leave a half-written checkpoint under its final name.

    Broken: ``checkpoint_last.pt`` and ``checkpoint_best.pt`` are copies of the first file written,
        made in
    place; a kill during the copy leaves a torn one, and training cannot be resumed. Saving itself
    renames, but does not wait for the disk, and tries again in the middle of the file after an
    error.
    """
    from fairseq import checkpoint_utils
    from fairseq.file_io import PathManager

    def mend_save(stock: Callable[..., Any]) -> Callable[..., Any]:
        def torch_persistent_save(obj: Any, filename: str, async_write: bool = False) -> None:
            if async_write or not PathManager.supports_rename(filename):
                return stock(obj, filename, async_write=async_write)
            with atomic_file(filename) as file:
                torch.save(obj, file)
            return None

        return torch_persistent_save

    def mend_copy(stock: Callable[..., Any]) -> Callable[..., Any]:
        def copy(src_path: str, dst_path: str, overwrite: bool = False) -> Any:
            if not (PathManager.supports_rename(src_path) and PathManager.supports_rename(dst_path)):
                return stock(src_path, dst_path, overwrite=overwrite)
            with open(src_path, "rb") as source, atomic_file(dst_path) as target:
                shutil.copyfileobj(source, target, length=1 << 24)
            return dst_path

        return copy

    replace(checkpoint_utils, "torch_persistent_save", mend_save)
    replace(PathManager, "copy", mend_copy)


def clean_up_after_kills() -> None:
    """Remove the temporary files that killed runs left in the checkpoint folder.

    Broken: nobody ever does; each is as large as a checkpoint. Training calls
        ``verify_checkpoint_directory``
    once, in its first process, before it writes anything.
    """
    from fairseq import checkpoint_utils

    def mend(stock: Callable[..., Any]) -> Callable[..., Any]:
        def verify_checkpoint_directory(save_dir: str) -> None:
            stock(save_dir)
            for leftover in sorted(Path(save_dir).glob(f"*.pt{TEMPORARY}")):
                leftover.unlink(missing_ok=True)
                logger.warning("removed %s, left by an interrupted run", leftover)

        return verify_checkpoint_directory

    replace(checkpoint_utils, "verify_checkpoint_directory", mend)
