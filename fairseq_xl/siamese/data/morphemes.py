"""Morphological segmentation by Morfessor (an extra), learnt from the training text, kept as plain text."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from fairseq_xl.io.atomic import atomic_text
from fairseq_xl.io.errors import InputError
from fairseq_xl.io.lines import read_lines
from fairseq_xl.io.packages import require
from fairseq_xl.text.ngrams import graphemes

BOUNDARY = "‧"
"""Between the morphemes of a word; spaces stay what they are."""


class Segmenter:
    """Splits words into morphemes; never inside a grapheme cluster, for these are its letters."""

    def __init__(self, model: Any, segmentations: dict[str, tuple[str, ...]]):
        self.model = model
        self.segmentations = segmentations

    @classmethod
    def train(cls, texts: Iterable[str]) -> Segmenter:
        """Learn from normalised sentences: Morfessor Baseline over word types."""
        words = sorted({word for text in texts for word in text.split()})
        model = require("morfessor", "siamese").BaselineModel()
        model.load_data([(1, tuple(graphemes(word))) for word in words])
        model.train_batch()
        learning = cls(model, {})
        # Unknown words are then cut as they are after the segmentations were saved and loaded.
        return cls._of({word: learning.segment(word) for word in words})

    @classmethod
    def load(cls, path: Path) -> Segmenter:
        """Raises: InputError: a line without segments."""
        words: dict[str, tuple[str, ...]] = {}
        for number, line in enumerate(read_lines(path), start=1):
            parts = tuple(line.split(" "))
            if not all(parts):
                raise InputError(f"{path}, line {number}: expected the morphemes of a word, one space between two")
            words["".join(parts)] = parts
        return cls._of(words)

    @classmethod
    def _of(cls, words: dict[str, tuple[str, ...]]) -> Segmenter:
        model = require("morfessor", "siamese").BaselineModel()
        model.load_segmentations(
            (1, tuple(graphemes(word)), tuple(tuple(graphemes(part)) for part in parts))
            for word, parts in words.items()
        )
        return cls(model, words)

    def save(self, path: Path) -> None:
        with atomic_text(path) as stream:
            stream.writelines(" ".join(parts) + "\n" for parts in self.segmentations.values())

    def __call__(self, text: str) -> str:
        """A sentence with its words' morphemes set apart by ``BOUNDARY``."""
        return " ".join(BOUNDARY.join(self.segment(word)) for word in text.split(" "))

    def segment(self, word: str) -> tuple[str, ...]:
        if word not in self.segmentations:
            parts, _ = self.model.viterbi_segment(tuple(graphemes(word)))
            self.segmentations[word] = tuple("".join(part) for part in parts)
        return self.segmentations[word]
