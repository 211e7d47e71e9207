"""What `fairseq-train --task upos_translation` reads: dictionaries, token numbers, and a manifest.

``manifest.json`` names the pairs and dictionaries. ``SPLIT.SRC-TGT.source``, ``.upos`` and ``.pieces`` are each a
``.bin`` and an ``.idx`` in fairseq's memory-mapped format. They hold the pieces of the source sentences, the tags of
their translations and the pieces of the translations. Each line is a sentence with its end mark.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from pathlib import Path

import numpy as np
import torch
from fairseq.data import Dictionary, indexed_dataset

from fairseq_xl.io.atomic import atomic_outputs, atomic_text, write_json
from fairseq_xl.io.errors import InputError
from fairseq_xl.io.json_files import loads
from fairseq_xl.io.progress import progress_bar
from fairseq_xl.io.steps import run_once
from fairseq_xl.syntactic.data.corpus import fold
from fairseq_xl.syntactic.data.directory import MANIFEST, VERSION, read_manifest
from fairseq_xl.syntactic.data.selection import Row, Selection
from fairseq_xl.text.conllu import UPOS
from fairseq_xl.text.subwords import processor, train_subwords

SETTINGS = "settings.json"
"""What the folder was made with."""

MODEL = "sentencepiece.model"
SOURCE_DICTIONARY = "dict.source.txt"
UPOS_DICTIONARY = "dict.upos.txt"
SPLITS = ("train", "valid")
_SENTENCES = ".sentences.txt"
_OWN = (MANIFEST, SETTINGS, MODEL, SOURCE_DICTIONARY, UPOS_DICTIONARY, _SENTENCES)
_OF_PAIRS = re.compile(r"(train|valid)\..+-.+\.(source|pieces|upos)\.(bin|idx)(\.tmp)?|\..+-.+\.done")


def write_manifest(folder: Path, languages: Iterable[str], entries: list[dict[str, object]]) -> None:
    """The last file of a folder: with it, the folder is complete."""
    manifest = {
        "version": VERSION,
        "sentencepiece": MODEL,
        "source_dictionary": SOURCE_DICTIONARY,
        "targets": {"upos": UPOS_DICTIONARY, "pieces": SOURCE_DICTIONARY},
        "languages": sorted(languages),
        "pairs": sorted(entries, key=lambda entry: (entry["source"], entry["target"])),
    }
    write_json(folder / MANIFEST, manifest, indent=2)


def check_free(folder: Path) -> None:
    """Nothing that is not an earlier preparation's may be overwritten.

    Raises:
        InputError: the folder has files of the names that are written here, and no settings of a preparation.
    """
    if not _is_ours(folder) and (taken := _own_files(folder)):
        raise InputError(f"{taken[0]} is not of fairseq-xl embed prepare, which would replace it: name another folder")


def clear(folder: Path) -> None:
    """Remove what an earlier preparation with other settings has left, all but these; others' files stay."""
    for path in _own_files(folder):
        if path.name != SETTINGS:
            path.unlink()


def _own_files(folder: Path) -> list[Path]:
    """What says that others are there comes first, for a call that is killed while it removes them."""
    found = [path for path in folder.glob("*") if path.name in _OWN or _OF_PAIRS.fullmatch(path.name)]
    return sorted(found, key=lambda path: (path.name not in (MANIFEST, UPOS_DICTIONARY), path.name))


def _is_ours(folder: Path) -> bool:
    try:
        settings = loads((folder / SETTINGS).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return False
    return isinstance(settings, dict) and {"corpus", "pairs", "choices"} <= settings.keys()


def has_vocabulary(folder: Path) -> bool:
    return (folder / UPOS_DICTIONARY).is_file()


def read_vocabulary(folder: Path) -> bytes:
    """The SentencePiece model of another data directory."""
    return (folder / read_manifest(folder).sentencepiece).read_bytes()


def train_vocabulary(folder: Path, sentences: Iterable[str], size: int) -> None:
    """Learn the joint SentencePiece model from sentences, and write it with both dictionaries."""
    text = folder / _SENTENCES
    with atomic_text(text) as stream:
        stream.writelines(sentence + "\n" for sentence in sentences)
    train_subwords([text], folder / MODEL, size)
    text.unlink()
    _write_dictionaries(folder)


def write_vocabulary(folder: Path, model: bytes) -> None:
    """Write a SentencePiece model that is there already, and both dictionaries."""
    with atomic_outputs(folder / MODEL) as (temporary,):
        temporary.write_bytes(model)
    _write_dictionaries(folder)


def _write_dictionaries(folder: Path) -> None:
    """The pieces in the model's order, and the tags; a dictionary's counts mean nothing here and are 1."""
    model = processor(str(folder / MODEL))
    pieces = [model.id_to_piece(number) for number in range(len(model)) if not model.is_unknown(number)]
    for name, symbols in ((SOURCE_DICTIONARY, pieces), (UPOS_DICTIONARY, UPOS)):
        with atomic_text(folder / name) as stream:
            stream.writelines(f"{symbol} 1\n" for symbol in symbols)


class Writer:
    """Preprocesses the pairs of a selection with the vocabulary of a folder."""

    def __init__(self, folder: Path, selection: Selection) -> None:
        self._folder, self._selection = folder, selection
        self._model = processor(str(folder / MODEL))
        pieces, tags = (Dictionary.load(str(folder / name)) for name in (SOURCE_DICTIONARY, UPOS_DICTIONARY))
        self._dictionaries = {"source": pieces, "pieces": pieces, "upos": tags}
        # from the model's numbers to the dictionary's
        self._numbers = np.array([pieces.index(self._model.id_to_piece(piece)) for piece in range(len(self._model))])
        self._tags = {tag: tags.index(tag) for tag in UPOS}

    def write(self, pair: tuple[str, str]) -> dict[str, object]:
        """The files of both splits of a pair, unless they are there; returns its entry of the manifest."""
        sizes, _ = run_once(
            self._folder / f".{'-'.join(pair)}.done",
            None,  # the folder is cleared where it was made with other settings
            (),
            lambda: {split: self._write_split(split, pair) for split in SPLITS},
            outputs=[Path(f"{name}.idx") for split in SPLITS for name in self._names(split, pair).values()],
        )
        return {"source": pair[0], "target": pair[1], **sizes}

    def _write_split(self, split: str, pair: tuple[str, str]) -> int:
        names = self._names(split, pair)
        builders = {}
        for kind, dictionary in self._dictionaries.items():
            dtype = indexed_dataset.best_fitting_int_dtype(len(dictionary))
            builders[kind] = indexed_dataset.MMapIndexedDatasetBuilder(f"{names[kind]}.bin.tmp", dtype=dtype)
        written = 0
        with progress_bar(f"{split} {'-'.join(pair)}", True, None, " pairs") as bar:
            for row in self._selection.rows(split, pair):
                if not row.tags:  # a sentence without a word
                    continue
                if split == "train":
                    self._check(row)
                builders["source"].add_item(self._pieces(row.source))
                builders["pieces"].add_item(self._pieces(row.target))
                tags = [self._tags[tag] for tag in row.tags.split()]
                builders["upos"].add_item(torch.tensor([*tags, self._dictionaries["upos"].eos()], dtype=torch.int32))
                written += 1
                bar.update()
        for kind, builder in builders.items():
            builder.finalize(f"{names[kind]}.idx.tmp")
            for suffix in (".bin", ".idx"):
                os.replace(f"{names[kind]}{suffix}.tmp", f"{names[kind]}{suffix}")
        return written

    def _names(self, split: str, pair: tuple[str, str]) -> dict[str, str]:
        """Files by what is in them, without ``.bin`` and ``.idx``."""
        return {kind: str(self._folder / f"{split}.{'-'.join(pair)}.{kind}") for kind in self._dictionaries}

    def _pieces(self, text: str) -> torch.Tensor:
        numbers = self._numbers[self._model.encode(text)]
        return torch.tensor([*numbers, self._dictionaries["source"].eos()], dtype=torch.int32)

    def _check(self, row: Row) -> None:
        """What must never be trained on is looked for once more, in what is about to be written."""
        for text in (row.source, row.target):
            if fold(text) in self._selection.folds:
                raise RuntimeError(f"{text!r} is on an exclusion list and was about to become training data")
