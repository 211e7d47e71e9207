"""The folder that `fairseq-train --task upos_translation` reads: dictionaries, token numbers, and a manifest.

``manifest.json`` names the pairs and dictionaries; ``SPLIT.SRC-TGT.source``, ``.upos`` and ``.pieces`` (each ``.bin``
and ``.idx``, fairseq's memory-mapped format) hold the pieces of the source sentences, the tags of their translations
and the pieces of the translations, line by line, each sentence with its end mark.
"""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Iterable
from pathlib import Path

import numpy as np
import torch
from fairseq.data import Dictionary, indexed_dataset
from sentencepiece import SentencePieceProcessor

from fairseq_xl.syntactic.corpus import fold
from fairseq_xl.syntactic.selection import Row, Selection
from fairseq_xl.text.conllu import UPOS
from fairseq_xl.text.lines import replacing
from fairseq_xl.text.subwords import processor, train_subwords
from fairseq_xl.vectors.progress import progress_bar

MANIFEST = "manifest.json"
MODEL = "sentencepiece.model"
SOURCE_DICTIONARY = "dict.source.txt"
UPOS_DICTIONARY = "dict.upos.txt"


def write_vocabulary(folder: Path, sentences: Iterable[str], size: int) -> None:
    """Train the joint SentencePiece model on sentences, and write it with both dictionaries."""
    text = folder / "sentences.txt"
    with replacing(text) as stream:
        stream.writelines(sentence + "\n" for sentence in sentences)
    train_subwords([text], folder / MODEL, size)
    text.unlink()
    write_dictionaries(folder)


def write_dictionaries(folder: Path) -> None:
    """The pieces of the folder's SentencePiece model and the tags as fairseq dictionaries.

    The pieces stand in the model's order; a dictionary's counts mean nothing here and are 1.
    """
    model = processor(str(folder / MODEL))
    pieces = [model.id_to_piece(number) for number in range(len(model)) if not model.is_unknown(number)]
    for name, symbols in ((SOURCE_DICTIONARY, pieces), (UPOS_DICTIONARY, UPOS)):
        with replacing(folder / name) as stream:
            stream.writelines(f"{symbol} 1\n" for symbol in symbols)


def take_vocabulary(folder: Path, other: Path) -> None:
    """Use the SentencePiece model and the dictionaries of a prepared folder: what fine-tuning needs."""
    for name in (MODEL, SOURCE_DICTIONARY, UPOS_DICTIONARY):
        shutil.copyfile(other / name, folder / f".{name}.tmp")
        os.replace(folder / f".{name}.tmp", folder / name)


class Binariser:
    """Writes the pairs of a selection with the vocabulary of a folder."""

    def __init__(self, folder: Path, selection: Selection, tagged: Iterable[str]) -> None:
        self.folder, self.selection, self.tagged = folder, selection, frozenset(tagged)
        self._model: SentencePieceProcessor = processor(str(folder / MODEL))
        self._source = Dictionary.load(str(folder / SOURCE_DICTIONARY))
        self._upos = Dictionary.load(str(folder / UPOS_DICTIONARY))
        # from the model's numbers to the dictionary's
        self._numbers = np.array([self._source.index(self._model.id_to_piece(i)) for i in range(len(self._model))])
        self._tag_numbers = {tag: self._upos.index(tag) for tag in UPOS}

    def write(self, pair: tuple[str, str]) -> dict[str, object]:
        """The files of both parts of a pair, unless they are there; returns its entry of the manifest."""
        entry: dict[str, object] = {"source": pair[0], "target": pair[1]}
        note = self.folder / f".{'-'.join(pair)}.done"
        if note.is_file():
            return json.loads(note.read_text(encoding="utf-8"))
        for part in ("train", "valid"):
            entry[part] = self._write_part(part, pair)
        if pair[1] not in self.tagged:
            entry["upos"] = False
        with replacing(note) as stream:
            json.dump(entry, stream)
        return entry

    def _write_part(self, part: str, pair: tuple[str, str]) -> int:
        kinds = ["source", "pieces", *(["upos"] if pair[1] in self.tagged else [])]
        names = {kind: self.folder / f"{part}.{'-'.join(pair)}.{kind}" for kind in kinds}
        dictionaries = {"source": self._source, "pieces": self._source, "upos": self._upos}
        builders = {
            kind: indexed_dataset.MMapIndexedDatasetBuilder(
                f"{name}.bin.tmp", dtype=indexed_dataset.best_fitting_int_dtype(len(dictionaries[kind]))
            )
            for kind, name in names.items()
        }
        written = 0
        with progress_bar(f"{part} {'-'.join(pair)}", True, None, " pairs") as bar:
            for row in self.selection.rows(part, pair):
                if "upos" in builders and not row.tags:
                    continue
                if part == "train":
                    self._check(row)
                builders["source"].add_item(self._pieces(row.source))
                builders["pieces"].add_item(self._pieces(row.target))
                if "upos" in builders:
                    tags = [self._tag_numbers[tag] for tag in row.tags.split()]
                    builders["upos"].add_item(torch.tensor([*tags, self._upos.eos()], dtype=torch.int32))
                written += 1
                bar.update()
        for kind, name in names.items():
            builders[kind].finalize(f"{name}.idx.tmp")
            for suffix in (".bin", ".idx"):
                os.replace(f"{name}{suffix}.tmp", f"{name}{suffix}")
        return written

    def _pieces(self, text: str) -> torch.Tensor:
        numbers = self._numbers[self._model.encode(text)]
        return torch.tensor([*numbers, self._source.eos()], dtype=torch.int32)

    def _check(self, row: Row) -> None:
        """What must never be trained on is looked for once more, in what is about to be written."""
        for text in (row.source, row.target):
            if fold(text) in self.selection.folds:
                raise RuntimeError(f"{text!r} is on an exclusion list and was about to become training data")


def write_manifest(folder: Path, languages: Iterable[str], entries: list[dict[str, object]]) -> None:
    manifest = {
        "version": 1,
        "sentencepiece": MODEL,
        "source_dictionary": SOURCE_DICTIONARY,
        "targets": {"upos": UPOS_DICTIONARY, "pieces": SOURCE_DICTIONARY},
        "languages": sorted(languages),
        "pairs": sorted(entries, key=lambda entry: (entry["source"], entry["target"])),
    }
    with replacing(folder / MANIFEST) as stream:
        json.dump(manifest, stream, indent=2, ensure_ascii=False)
        stream.write("\n")
