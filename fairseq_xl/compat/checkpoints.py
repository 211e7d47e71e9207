"""Checkpoints are written whole or not at all. One sentence explains those that cannot be used."""

from __future__ import annotations

import os
import shutil
from dataclasses import fields
from typing import Any

import torch
from omegaconf import OmegaConf
from omegaconf.errors import OmegaConfBaseException

from fairseq_xl.compat.patching import Stock, replace
from fairseq_xl.io.atomic import atomic_binary
from fairseq_xl.io.errors import InputError, mistake_behind
from fairseq_xl.training import checkpoints

_NOT_FOUND = "Model file not found: "  # how fairseq begins to say so


def write_checkpoints_atomically() -> None:
    """Never leave a half-written checkpoint under its final name.

    Broken: ``checkpoint_last.pt`` and ``checkpoint_best.pt`` are copies of the first file written, and fairseq copies
    in place. A kill during the copy leaves a torn file, and training cannot be resumed. Saving itself renames, but it
    does not wait for the disk. After an error it tries again in the middle of the file.
    """
    from fairseq import checkpoint_utils
    from fairseq.file_io import PathManager

    @replace(checkpoint_utils, "torch_persistent_save")
    def torch_persistent_save(stock: Stock, obj: Any, filename: str, async_write: bool = False) -> None:
        if async_write or not PathManager.supports_rename(filename):
            return stock(obj, filename, async_write=async_write)
        with atomic_binary(filename) as file:
            torch.save(obj, file)
        return None

    @replace(PathManager, "copy")
    def copy(stock: Stock, src_path: str, dst_path: str, overwrite: bool = False) -> Any:
        if not (PathManager.supports_rename(src_path) and PathManager.supports_rename(dst_path)):
            return stock(src_path, dst_path, overwrite=overwrite)
        with open(src_path, "rb") as source, atomic_binary(dst_path) as target:
            shutil.copyfileobj(source, target, length=1 << 24)
        return dst_path


def explain_unusable_checkpoints() -> None:
    """Say in one sentence what is wrong with a missing, torn, foreign or malicious checkpoint.

    Broken: ``load_checkpoint_to_cpu`` ends in half a page of traceback. For a malicious file its last line advises you
    to allow what the file carries.
    """
    from fairseq import checkpoint_utils

    @replace(checkpoint_utils, "load_checkpoint_to_cpu")
    def load_checkpoint_to_cpu(stock: Stock, path: str, *args: Any, **kwargs: Any) -> Any:
        try:
            state = stock(path, *args, **kwargs)
        except Exception as error:
            # The file is looked at only now, so that loading a good one costs nothing more.
            reason = checkpoints.why_file_refused(path)
            if reason is None and (isinstance(error, OmegaConfBaseException) or not checkpoints.is_intact(path)):
                reason = checkpoints.TORN  # in what only fairseq looks at
            if reason is None:
                raise
            raise InputError(f"the checkpoint {path} {reason}") from error
        if os.path.isfile(path) and not checkpoints.is_configured_as_written(path):
            raise InputError(f"the checkpoint {path} {checkpoints.TORN}")
        cfg = state.get("cfg")
        plain = OmegaConf.to_container(cfg, resolve=False) if OmegaConf.is_config(cfg) else cfg
        if (reason := checkpoints.why_config_refused({**state, "cfg": plain})) is not None:
            raise InputError(f"the checkpoint {path} {reason}")
        return state

    @replace(checkpoint_utils, "load_model_ensemble_and_task")
    def load_model_ensemble_and_task(
        stock: Stock, filenames: list[str], arg_overrides: dict[str, Any] | None = None, *args: Any, **kwargs: Any
    ) -> Any:
        try:
            return stock(filenames, arg_overrides, *args, **kwargs)
        except Exception as error:
            if str(error).startswith(_NOT_FOUND):
                path = str(error).removeprefix(_NOT_FOUND)
                raise InputError(
                    f"there is no checkpoint {path}; training writes checkpoint_best.pt and checkpoint_last.pt to its "
                    "--save-dir"
                ) from error
            if mistake_behind(error) is None:
                for path in filter(os.path.isfile, filenames):
                    checkpoints.refuse_unbuildable(path, checkpoints.read(path))
            raise


def show_what_models_say_of_checkpoints() -> None:
    """Let a training that cannot load a checkpoint say what the model says about it.

    Broken: whatever that is, training hides it behind "please ensure that the architectures match".
    """
    from fairseq.trainer import Trainer

    @replace(Trainer, "load_checkpoint")
    def load_checkpoint(stock: Stock, *args: Any, **kwargs: Any) -> Any:
        try:
            return stock(*args, **kwargs)
        except Exception as error:
            hidden = mistake_behind(error)
            if hidden is None or hidden is error:
                raise
            raise hidden from None


def refuse_misspelt_overrides() -> None:
    """Refuse a misspelt ``decode_…`` in ``--model-overrides``, and a value that its option does not take.

    Broken: fairseq passes over unknown names. A search for the best decoding by one of them would find no difference.
    A value that an option does not take ends in a traceback.
    """
    from fairseq import checkpoint_utils

    @replace(checkpoint_utils, "load_model_ensemble_and_task")
    def load_model_ensemble_and_task(
        stock: Stock, filenames: list[str], arg_overrides: dict[str, Any] | None = None, *args: Any, **kwargs: Any
    ) -> Any:
        _refuse_misspelt(arg_overrides or {})
        try:
            return stock(filenames, arg_overrides, *args, **kwargs)
        except OmegaConfBaseException as error:
            if not arg_overrides:
                raise
            raise InputError(f"--model-overrides {arg_overrides}: {str(error).splitlines()[0]}") from error


def _refuse_misspelt(overrides: dict[str, Any]) -> None:
    from fairseq.models import MODEL_DATACLASS_REGISTRY

    known = {each.name for config in MODEL_DATACLASS_REGISTRY.values() for each in fields(config)}
    options = sorted(name for name in known if name.startswith("decode_"))
    for name in overrides:
        if name.startswith("decode_") and name not in options:
            raise InputError(f"--model-overrides has {name}, which no model knows: choose {', '.join(options)}")
