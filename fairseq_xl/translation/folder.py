"""A model folder: all that translating raw text needs, in files that can be copied elsewhere together.

    translator.json   languages, text steps, checkpoints, default options (:class:`ModelFolder`)
    model1.pt, …      checkpoints, several of them for an ensemble
    dict.LANGUAGE.txt the source and the target dictionary
    truecaser.SOURCE  where the text was truecased
    subwords.SOURCE.model  where words were cut into pieces

``fairseq-xl translate pack`` writes one, ``fairseq-xl translate text`` reads it.
"""

from __future__ import annotations

import json
import re
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from fairseq_xl.io.atomic import atomic_text
from fairseq_xl.io.errors import InputError
from fairseq_xl.io.folders import read_manifest
from fairseq_xl.io.steps import checksum
from fairseq_xl.text.pipeline import TOKENIZERS, Pipeline

CONFIG = "translator.json"
VERSION = 1
"""Raised when an older version of this package could not read what is written now."""

_LANGUAGE = re.compile(r"[A-Za-z0-9_-]+")
_ENTRIES: dict[str, type] = {
    **{"source_lang": str, "target_lang": str, "tokenizer": str, "truecase": bool, "subwords": bool},
    **{"checkpoints": list, "dictionaries": dict, "options": dict},
}


@dataclass(frozen=True, kw_only=True)
class TextSteps:
    """The languages and text steps of a folder. Every name in it is of a file beside it, never a path."""

    source_lang: str
    target_lang: str
    tokenizer: str
    truecase: bool
    subwords: bool

    def __post_init__(self) -> None:
        """Raises: InputError: a value that is none of those there are."""
        for language in (self.source_lang, self.target_lang):
            if not _LANGUAGE.fullmatch(language):
                raise InputError(f"{language!r} is no language code such as de")
        if self.tokenizer not in TOKENIZERS:
            raise InputError(f"tokenizer is one of {', '.join(TOKENIZERS)}, not {self.tokenizer!r}")

    def step_files(self) -> list[str]:
        """The names of what the text steps read."""
        chosen = {truecaser_name(self.source_lang): self.truecase, subwords_name(self.source_lang): self.subwords}
        return [name for name, given in chosen.items() if given]

    def pipeline(self, folder: Path) -> Pipeline:
        """The text steps, with the truecaser and the subword model in ``folder``."""
        truecaser = str(folder / truecaser_name(self.source_lang)) if self.truecase else None
        pieces = str(folder / subwords_name(self.source_lang)) if self.subwords else None
        return Pipeline(self.source_lang, self.target_lang, self.tokenizer, truecaser, pieces)


@dataclass(frozen=True, kw_only=True)
class ModelFolder(TextSteps):
    """What ``translator.json`` says.

    dictionaries: SHA-256 of each dictionary's file. Of two of one size, the wrong one would be taken by
        most checkpoints without a murmur.
    options: defaults of :class:`fairseq_xl.translation.options.Decoding`, by name
    """

    checkpoints: list[str]
    dictionaries: dict[str, str]
    options: dict[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Raises: InputError: a value that is none of those there are, or a path."""
        super().__post_init__()
        names = self.checkpoints
        if not names or not all(map(_is_file_name, names)):
            raise InputError(f"checkpoints is a list of names of files beside it, not {names!r}")
        wanted = {dictionary_name(self.source_lang), dictionary_name(self.target_lang)}
        if set(self.dictionaries) != wanted:
            raise InputError(f"dictionaries holds the checksums of {' and '.join(sorted(wanted))}")

    def files(self) -> list[str]:
        """The names of all files beside ``translator.json``."""
        return [*self.checkpoints, *self.dictionaries, *self.step_files()]


def dictionary_name(language: str) -> str:
    """As fairseq-preprocess calls it."""
    return f"dict.{language}.txt"


def truecaser_name(language: str) -> str:
    """As the recipes call it."""
    return f"truecaser.{language}"


def subwords_name(language: str) -> str:
    """The SentencePiece model of a language."""
    return f"subwords.{language}.model"


def write_config(folder: Path, model: ModelFolder) -> None:
    """Write ``translator.json``, wholly or not at all."""
    with atomic_text(folder / CONFIG) as stream:
        json.dump({"version": VERSION, **asdict(model)}, stream, indent=2, ensure_ascii=False)
        stream.write("\n")


def read_config(folder: Path) -> ModelFolder:
    """Read ``translator.json`` and see that every file it speaks of is there and as it was packed.

    Raises:
        InputError: no model folder, a damaged or newer configuration, a missing file, another dictionary.
    """
    values = read_manifest(folder / CONFIG, VERSION, "fairseq-xl translate pack", **_ENTRIES)
    try:
        model = ModelFolder(**{name: values[name] for name in _ENTRIES})
    except InputError as error:
        raise InputError(f"{folder / CONFIG} is damaged ({error}): pack the model again") from None
    missing = [name for name in model.files() if not (folder / name).is_file()]
    if missing:
        raise InputError(f"the model folder {folder} lacks {', '.join(missing)}: copy it anew, or pack the model again")
    for name, expected in model.dictionaries.items():
        if checksum(folder / name) != expected:
            raise InputError(
                f"{folder / name} is not the dictionary that the model was packed with: copy the folder anew, "
                "or pack the model again"
            )
    return model


def _is_file_name(name: Any) -> bool:
    return isinstance(name, str) and name not in ("", "..") and Path(name).name == name
