"""A trained translation model, ready to translate, and its task."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from fairseq import checkpoint_utils

from fairseq_xl.io.errors import InputError
from fairseq_xl.training.checkpoints import need_file
from fairseq_xl.training.device import usable


def load_model(checkpoint: Path, data: Path, device: str | None = None) -> tuple[Any, Any]:
    """A model in evaluation mode on a device, and its task with the dictionaries in ``data``.

    Args:
        checkpoint: that fairseq-train wrote.
        data: the data directory of fairseq-preprocess.
        device: such as ``cpu``; by default a GPU where there is one.

    Raises:
        InputError: no such checkpoint, folder or device, or a folder without preprocessed text.
    """
    need_file(checkpoint)
    if not data.is_dir():
        raise InputError(f"no folder {data}: give the one fairseq-preprocess wrote")
    place = usable(device)
    try:
        models, _, task = checkpoint_utils.load_model_ensemble_and_task(
            [str(checkpoint)], arg_overrides={"data": str(data)}
        )
    except Exception as error:
        # fairseq raises a bare Exception where the checkpoint leaves the languages to the data's file names.
        if not str(error).startswith("Could not infer language pair"):
            raise
        raise InputError(f"{data} holds no preprocessed text: give the folder fairseq-preprocess wrote") from error
    return models[0].to(place).eval(), task


def load_continuous_model(checkpoint: Path, data: Path, device: str | None = None) -> tuple[Any, Any]:
    """As :func:`load_model`, of a model that predicts vectors.

    Raises:
        InputError: as there; a model without vector outputs.
    """
    model, task = load_model(checkpoint, data, device)
    if getattr(model.decoder, "targets", None) is None:
        raise InputError(f"{checkpoint} holds a model without vector outputs, so nothing is near")
    return model, task


def load_split(task: Any, split: str) -> Any:
    """A split of a task's data, with its target side.

    Raises:
        InputError: no such split, or one without a target side.
    """
    try:
        task.load_dataset(split)
    except FileNotFoundError as error:
        raise InputError(
            f"{task.cfg.data} has no split {split!r} in this model's languages: --split names one that "
            "fairseq-preprocess wrote, such as valid or test"
        ) from error
    dataset = task.dataset(split)
    if dataset.tgt is None:
        raise InputError(f"the split {split!r} in {task.cfg.data} has no target side to compare with")
    return dataset
