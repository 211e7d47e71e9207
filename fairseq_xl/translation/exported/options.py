"""What an export is made of. Every ``--help`` imports this module, so that torch and fairseq stay out of it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from fairseq_xl.io.settings import argument, option

COMPUTE_TYPES = ("float32", "int8")
FORMATS = ("ctranslate2", "onnx")


@dataclass(kw_only=True)
class Exporting:
    """What is exported, and what is written."""

    model: Path = argument(
        "folder that a recipe left as RUN/model or fairseq-xl translate pack made. Give an export to swap its "
        "vocabulary",
        metavar="FOLDER",
    )
    output: Path = option("folder to write; an export of that name is replaced", alias="-o", metavar="DIR")
    format: str = option(
        "ctranslate2 exports a continuous_transformer, to translate text. onnx exports the encoder of a "
        "continuous_lstm and one step of its decoder with the nearest words. Choose it for programs with a search of "
        "their own",
        "ctranslate2",
        choices=FORMATS,
    )
    compute_type: str | None = option(
        "int8 rounds weights to eight bits: a quarter of the size and faster, with a few other translations",
        None,
        choices=COMPUTE_TYPES,
        shown="float32, and with --swap-vectors that of the export",
    )
    sentences: Path | None = option(
        "raw text of the source language, whose first 60 sentences are translated to compare. Without it the command "
        "draws sentences of words from the dictionary. Not with --swap-vectors, where nothing is compared",
        None,
        metavar="FILE",
    )
    swap_vectors: Path | None = option(
        "with an export as FOLDER: vectors in the same space, which take the place of its target table",
        None,
        metavar="FILE",
    )
    swap_dictionary: Path | None = option(
        "with --swap-vectors: the words to translate into, a dictionary of fairseq's (dict.en.txt)",
        None,
        metavar="FILE",
    )
