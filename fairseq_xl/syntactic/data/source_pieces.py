"""The source sentences of training data, as pieces, to train vectors of the pieces on."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from fairseq_xl.syntactic.data.directory import read_manifest
from fairseq_xl.syntactic.data.sides import load_dictionary, load_side

_TRAIN = "train"


def source_pieces(folder: Path) -> Iterator[str]:
    """Each distinct source sentence of each language once, its pieces separated by spaces.

    Raises:
        InputError: no data directory, or one with a file that is missing or damaged.
    """
    manifest = read_manifest(folder)
    dictionary = load_dictionary(folder / manifest.source_dictionary)
    for language in sorted({pair.source for pair in manifest.pairs}):
        seen = set()
        for pair in manifest.pairs:
            if pair.source != language or pair.sentences.get(_TRAIN) == 0:
                continue
            for sentence in load_side(f"{folder / pair.prefix(_TRAIN)}.source", dictionary):
                numbers = tuple(sentence[:-1].tolist())
                if numbers not in seen:
                    seen.add(numbers)
                    yield " ".join(dictionary[number] for number in numbers)
