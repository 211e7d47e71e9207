"""Checkpoints that are there wholly or not at all."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from typing import Any

import torch

from fairseq_xl.compat.patching import replace
from fairseq_xl.io.atomic import atomic_binary


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
            with atomic_binary(filename) as file:
                torch.save(obj, file)
            return None

        return torch_persistent_save

    def mend_copy(stock: Callable[..., Any]) -> Callable[..., Any]:
        def copy(src_path: str, dst_path: str, overwrite: bool = False) -> Any:
            if not (PathManager.supports_rename(src_path) and PathManager.supports_rename(dst_path)):
                return stock(src_path, dst_path, overwrite=overwrite)
            with open(src_path, "rb") as source, atomic_binary(dst_path) as target:
                shutil.copyfileobj(source, target, length=1 << 24)
            return dst_path

        return copy

    replace(checkpoint_utils, "torch_persistent_save", mend_save)
    replace(PathManager, "copy", mend_copy)
