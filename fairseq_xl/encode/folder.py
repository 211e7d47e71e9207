"""An encoder folder: all that turning raw text into vectors needs, in files that can be copied elsewhere together.

    encoder.json       version, and the checksum of every other file
    model.safetensors  the weights (:mod:`fairseq_xl.training.packed`)
    …                  what the model's task reads: dictionaries, a SentencePiece model

``fairseq-xl embed pack`` writes one.
"""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from fairseq_xl.io.atomic import atomic_text, write_json
from fairseq_xl.io.folders import atomic_folder, check_files, digest, read_manifest
from fairseq_xl.report import model_card
from fairseq_xl.training import packed

CONFIG = "encoder.json"
MODEL = f"model{packed.SUFFIX}"
VERSION = 2
"""Raised when an older version of this package could not read what is written now."""


def write_folder(output: Path, state: dict[str, Any], data: Path, names: Sequence[str], card: str = "") -> None:
    """Write an encoder folder, wholly or not at all.

    Args:
        output: the folder, new, empty or an encoder folder to replace.
        state: a checkpoint.
        data: where the files called ``names`` are.
        card: the text of README.md; none is written without.

    Raises:
        InputError: a file that cannot be read; an ``output`` that holds something else or cannot be written.
    """
    with atomic_folder(output, CONFIG, "an encoder") as folder:
        packed.write(folder / MODEL, state)
        for name in names:
            shutil.copyfile(data / name, folder / name)
        checksums = {name: digest(folder / name) for name in (MODEL, *names)}
        write_json(folder / CONFIG, {"version": VERSION, "files": checksums}, indent=2)
        if card:
            with atomic_text(folder / model_card.NAME) as stream:
                stream.write(card)


def checked_model(folder: Path) -> Path:
    """The weights of an encoder folder whose files are all as they were packed.

    Raises:
        InputError: no encoder folder; one of another version; a file that is missing or was changed.
    """
    files = read_manifest(folder / CONFIG, VERSION, "fairseq-xl embed pack", files=dict)["files"]
    check_files(folder, {MODEL: None, **files}, "the encoder folder")
    return folder / MODEL
