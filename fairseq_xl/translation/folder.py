"""A model folder: all that translating raw text needs, in files that can be copied elsewhere together.

    translator.json   languages, text steps, checkpoints, default options (:class:`ModelFolder`)
    model1.safetensors, …  weights (:mod:`fairseq_xl.training.packed`), several of them for an ensemble
    dict.LANGUAGE.txt the source and the target dictionary
    truecaser.SOURCE  where the text was truecased
    subwords.SOURCE.model  where words were cut into pieces, of the source side alone or of both

``fairseq-xl translate pack`` writes one, ``fairseq-xl translate text`` reads it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from fairseq_xl.io.atomic import write_json
from fairseq_xl.io.errors import InputError
from fairseq_xl.io.folders import check_files, read_manifest
from fairseq_xl.text.pipeline import TOKENIZERS, Pipeline

CONFIG = "translator.json"
OUTSIDE = ("lexicon", "nearest_index", "read_unknown")
"""Options that name files or folders, which are none of the model folder's."""
VERSION = 4
"""Raised when an older version of this package could not read what is written now."""

STEP_ENTRIES: dict[str, type] = {
    **{"source_lang": str, "target_lang": str, "tokenizer": str},
    **{"truecase": bool, "subwords": bool, "target_words": bool, "target_truecased": bool},
}
"""What a folder says of the text steps (:class:`TextSteps`), by name."""

_LANGUAGE = re.compile(r"[A-Za-z0-9_-]+")
_ENTRIES: dict[str, type] = {**STEP_ENTRIES, "checkpoints": list, "files": dict, "options": dict}


@dataclass(frozen=True, kw_only=True)
class TextSteps:
    """The languages and text steps of a folder. Every name in it is of a file beside it, never a path."""

    source_lang: str
    target_lang: str
    tokenizer: str
    truecase: bool
    subwords: bool
    target_words: bool
    target_truecased: bool

    def __post_init__(self) -> None:
        """Raises: InputError: a value that is none of those there are."""
        for language in (self.source_lang, self.target_lang):
            if not _LANGUAGE.fullmatch(language):
                raise InputError(f"{language!r} is no language code such as de")
        if self.tokenizer not in TOKENIZERS:
            raise InputError(f"tokenizer is one of {', '.join(TOKENIZERS)}, not {self.tokenizer!r}")

    def steps(self) -> dict[str, Any]:
        """Languages and text steps by name, for a folder that is made of this one."""
        return {name: getattr(self, name) for name in STEP_ENTRIES}

    def step_files(self) -> list[str]:
        """The names of what the text steps read."""
        chosen = {truecaser_name(self.source_lang): self.truecase, subwords_name(self.source_lang): self.subwords}
        return [name for name, given in chosen.items() if given]

    def pipeline(self, folder: Path) -> Pipeline:
        """The text steps, with the truecaser and the subword model in ``folder``."""
        truecaser = str(folder / truecaser_name(self.source_lang)) if self.truecase else None
        pieces = str(folder / subwords_name(self.source_lang)) if self.subwords else None
        sides = self.target_words, self.target_truecased
        return Pipeline(self.source_lang, self.target_lang, self.tokenizer, truecaser, pieces, *sides)


@dataclass(frozen=True, kw_only=True)
class ModelFolder(TextSteps):
    """What ``translator.json`` says.

    files: SHA-256 of every file beside ``translator.json``
    options: defaults of :class:`fairseq_xl.translation.options.Decoding`, by name, of which none names a file
    """

    checkpoints: list[str]
    files: dict[str, str]
    options: dict[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Raises: InputError: a value that is none of those there are, or a path."""
        super().__post_init__()
        names = self.checkpoints
        if not names or not all(map(_is_file_name, names)):
            raise InputError(f"checkpoints is a list of names of files beside it, not {names!r}")
        wanted = [*names, *map(dictionary_name, (self.source_lang, self.target_lang)), *self.step_files()]
        if set(self.files) != set(wanted):
            raise InputError(f"files holds the checksums of {', '.join(wanted)}")
        refuse_outside(self.options)


def refuse_outside(options: Mapping[str, Any]) -> None:
    """Raises: InputError: a default option that names a file or folder, which is none of the folder's."""
    for name in OUTSIDE:
        if options.get(name) is not None:
            raise InputError(f"{name} names what is not in the folder: give it when translating")


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
    write_json(folder / CONFIG, {"version": VERSION, **asdict(model)}, indent=2, ensure_ascii=False)


def read_config(folder: Path) -> ModelFolder:
    """Read ``translator.json`` and see that every file it speaks of is there and as it was packed.

    Raises:
        InputError: no model folder, a damaged or newer configuration, a file that is missing or was changed.
    """
    values = read_manifest(folder / CONFIG, VERSION, "fairseq-xl translate pack", **_ENTRIES)
    try:
        model = ModelFolder(**{name: values[name] for name in _ENTRIES})
    except InputError as error:
        raise InputError(f"{folder / CONFIG} is damaged ({error}): pack the model again") from None
    check_files(folder, model.files, "the model folder")
    return model


def _is_file_name(name: Any) -> bool:
    return isinstance(name, str) and name not in ("", "..") and Path(name).name == name
