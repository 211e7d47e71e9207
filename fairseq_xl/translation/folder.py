"""A model folder: all that translating raw text needs, in files that can be copied elsewhere together.

    translator.json   languages, text steps, checkpoints, default options (:class:`ModelFolder`)
    model1.pt, …      checkpoints, several of them for an ensemble
    dict.LANGUAGE.txt the source and the target dictionary
    truecaser.SOURCE  where the text was truecased
    subwords.SOURCE.model  where words were cut into pieces

``fairseq-xl translate pack`` writes one, ``fairseq-xl translate text`` reads it.
"""

from __future__ import annotations

import hashlib
import json
import re
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from typing import Any

from fairseq_xl.io.atomic import atomic_text
from fairseq_xl.io.errors import InputError
from fairseq_xl.io.json_text import loads
from fairseq_xl.text.pipeline import TOKENISERS, Pipeline

CONFIG = "translator.json"
FORMAT = 1
"""Raised when an older version of this package could not read what is written now."""

_LANGUAGE = re.compile(r"[A-Za-z0-9_-]+")
_MAKE_ONE = "make one with fairseq-xl translate pack, or give the folder RUN/model that a recipe left"


@dataclass(frozen=True)
class ModelFolder:
    """What ``translator.json`` says. Every name in it is of a file in the folder, never a path.

    dictionaries: SHA-256 of each dictionary's file. Of two of one size, the wrong one would be taken by
        most checkpoints without a murmur.
    options: defaults of :mod:`fairseq_xl.translation.options`, by name
    """

    source_lang: str
    target_lang: str
    tokeniser: str
    truecase: bool
    subwords: bool
    checkpoints: list[str]
    dictionaries: dict[str, str]
    options: dict[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Raises: InputError, to follow the file's name: a value of the wrong kind, or a path."""
        for language in (self.source_lang, self.target_lang):
            if not isinstance(language, str) or not _LANGUAGE.fullmatch(language):
                raise InputError(f"{language!r} is no language code such as de")
        if self.tokeniser not in TOKENISERS:
            raise InputError(f"tokeniser is one of {', '.join(TOKENISERS)}, not {self.tokeniser!r}")
        for name in ("truecase", "subwords"):
            if not isinstance(getattr(self, name), bool):
                raise InputError(f"{name} is true or false, not {getattr(self, name)!r}")
        names = self.checkpoints
        if not isinstance(names, list) or not names or not all(map(_is_file_name, names)):
            raise InputError(f"checkpoints is a list of names of files beside it, not {names!r}")
        wanted = {dictionary_name(self.source_lang), dictionary_name(self.target_lang)}
        if not isinstance(self.dictionaries, dict) or set(self.dictionaries) != wanted:
            raise InputError(f"dictionaries holds the checksums of {' and '.join(sorted(wanted))}")
        if not isinstance(self.options, dict):
            raise InputError(f"options is a table of names and values, not {self.options!r}")

    def pipeline(self, folder: Path) -> Pipeline:
        """The text steps, with the truecaser and the subword model in ``folder``."""
        truecaser = str(folder / truecaser_name(self.source_lang)) if self.truecase else None
        pieces = str(folder / subwords_name(self.source_lang)) if self.subwords else None
        return Pipeline(self.source_lang, self.target_lang, self.tokeniser, truecaser, pieces)


def dictionary_name(language: str) -> str:
    """As fairseq-preprocess calls it."""
    return f"dict.{language}.txt"


def truecaser_name(language: str) -> str:
    """As the recipes call it."""
    return f"truecaser.{language}"


def subwords_name(language: str) -> str:
    """The SentencePiece model of a language."""
    return f"subwords.{language}.model"


def checksum(path: Path) -> str:
    """SHA-256 of a file."""
    return hashlib.sha256(path.read_bytes()).hexdigest()


def write_config(folder: Path, model: ModelFolder) -> None:
    """Write ``translator.json``, wholly or not at all."""
    with atomic_text(folder / CONFIG) as stream:
        json.dump({"format": FORMAT, **asdict(model)}, stream, indent=2, ensure_ascii=False)
        stream.write("\n")


def read_config(folder: Path) -> ModelFolder:
    """Read ``translator.json`` and see that every file it speaks of is there and as it was packed.

    Raises:
        InputError: no model folder, a damaged or newer configuration, a missing file, another dictionary.
    """
    path = folder / CONFIG
    if not folder.is_dir():
        raise InputError(f"there is no folder {folder}: {_MAKE_ONE}")
    if not path.is_file():
        raise InputError(f"{folder} is no model folder, for it holds no {CONFIG}: {_MAKE_ONE}")
    try:
        values = loads(path.read_text(encoding="utf-8"))
    except ValueError as error:  # not JSON, or not UTF-8
        raise InputError(f"{path} is damaged ({error}): pack the model again") from None
    if not isinstance(values, dict) or not isinstance(values.get("format"), int):
        raise InputError(f"{path} is damaged (it names no format): pack the model again")
    version = values.pop("format")
    if version != FORMAT:
        raise InputError(
            f"{path} has format {version}, this version of fairseq_xl reads {FORMAT}: use the version that "
            "packed it, or pack the model again"
        )
    known = {entry.name for entry in fields(ModelFolder)}
    if set(values) != known:
        odd = ", ".join(sorted(set(values) ^ known))
        raise InputError(f"{path} is damaged (missing or unknown: {odd}): pack the model again")
    try:
        model = ModelFolder(**values)
    except InputError as error:
        raise InputError(f"{path} is damaged ({error}): pack the model again") from None
    _check_files(folder, model)
    return model


def _check_files(folder: Path, model: ModelFolder) -> None:
    names = [*model.checkpoints, *model.dictionaries]
    if model.truecase:
        names.append(truecaser_name(model.source_lang))
    if model.subwords:
        names.append(subwords_name(model.source_lang))
    missing = [name for name in names if not (folder / name).is_file()]
    if missing:
        raise InputError(f"the model folder {folder} lacks {', '.join(missing)}: copy it anew, or pack the model again")
    for name, expected in model.dictionaries.items():
        if checksum(folder / name) != expected:
            raise InputError(
                f"{folder / name} is not the dictionary that the model was packed with: copy the folder anew, "
                "or pack the model again"
            )


def _is_file_name(name: Any) -> bool:
    return isinstance(name, str) and name not in ("", "..") and Path(name).name == name
