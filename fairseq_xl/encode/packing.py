"""Encoder folders from checkpoints."""

from __future__ import annotations

from pathlib import Path

import torch
from omegaconf import OmegaConf

from fairseq_xl.encode.encoder import load_model, load_task
from fairseq_xl.encode.folder import write_folder
from fairseq_xl.training import checkpoints


def pack(checkpoint: Path, output: Path, data: Path | None = None) -> None:
    """Write a checkpoint, without the optimiser's state, and the files that its task encodes text with.

    Args:
        checkpoint: of fairseq-train.
        output: folder that is new, empty or an encoder folder to replace.
        data: the prepared data; by default where it was in training.

    Raises:
        InputError: a checkpoint that cannot be read or does not fit the data; an output that cannot be written.
    """
    task, _ = load_model(checkpoint, data)
    write_folder(output, checkpoints.read(checkpoint), Path(task.cfg.data), task.text_files())


def pack_untrained(checkpoint: Path, output: Path, seed: int, data: Path | None = None) -> None:
    """As :func:`pack`, with weights as they are before training, drawn by ``seed``."""
    state = checkpoints.read(checkpoint)
    task = load_task(state, data)
    torch.manual_seed(seed)
    model = task.build_model(OmegaConf.create(state["cfg"]).model)
    history = [{**state["optimizer_history"][-1], "num_updates": 0}]
    fresh = {**state, "model": model.state_dict(), "optimizer_history": history}
    write_folder(output, fresh, Path(task.cfg.data), task.text_files())
