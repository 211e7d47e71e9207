"""The sentences of a corpus nearest to a new one, by their vectors and then by what judges pairs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from fairseq_xl.io.atomic import write_json
from fairseq_xl.io.errors import InputError
from fairseq_xl.io.folders import atomic_folder
from fairseq_xl.io.lines import read_lines
from fairseq_xl.io.steps import is_done, signature
from fairseq_xl.vectors.faiss_index import build_index, set_effort
from fairseq_xl.vectors.formats.npy import open_array

MANIFEST, VECTORS = "index.json", "vectors.npy"

Judge = Callable[[str, Sequence[str]], Sequence[float]]
"""The probability that a sentence means the same as each of others."""


@dataclass(frozen=True)
class Found:
    """A sentence of the corpus.

    Attributes:
        line: in the corpus, from 1.
        text: as it stands there.
        cosine: of its vector with the new sentence's.
        probability: that the two mean the same; None where nothing judges them.
    """

    line: int
    text: str
    cosine: float
    probability: float | None


class SentenceIndex:
    """A corpus with the vectors of its sentences.

    Args:
        folder: kept vectors, used again while corpus and encoder are the same.
        corpus: a sentence a line.
        encoder: a :class:`fairseq_xl.SentenceEncoder`.
        source: the file or folder that the encoder is from.
        kind: of the faiss index: flat, hnsw or ivf.
        languages: of new sentences and of the corpus, for an encoder that tells them apart.

    Raises:
        InputError: a corpus without text, or a folder that holds something else.
    """

    def __init__(
        self,
        folder: Path,
        corpus: Path,
        encoder: Any,
        source: Path,
        kind: str = "flat",
        languages: tuple[str, str] | None = None,
    ):
        self.texts = list(read_lines(corpus))
        if not any(text.strip() for text in self.texts):
            raise InputError(f"{corpus} holds no text to search")
        self.encoder, self.kind = encoder, kind
        self.language = languages[0] if languages else None
        language = languages[1] if languages else None
        wanted = signature({"language": language} if language else None, [corpus, source])
        if not is_done(folder / MANIFEST, wanted, [folder / VECTORS]):
            vectors = encoder.encode(self.texts, language=language, normalize=True)
            with atomic_folder(folder, MANIFEST, "an index of sentences") as new:
                np.save(new / VECTORS, vectors, allow_pickle=False)
                write_json(new / MANIFEST, wanted)
        vectors = np.ascontiguousarray(open_array(folder / VECTORS), dtype=np.float32)
        self.lines = np.flatnonzero(vectors.any(1))
        """the corpus's lines, from 0, that have words: the others have zeros, which are near to nothing"""
        if not len(self.lines):
            raise InputError(f"no line of {corpus} has a word that the encoder reads: give other text")
        self.vectors = vectors if len(self.lines) == len(vectors) else vectors[self.lines]
        self.index = build_index(self.vectors, kind)
        set_effort(self.index, kind)

    def search(self, sentence: str, count: int, judge: Judge | None = None, candidates: int = 100) -> list[Found]:
        """The ``count`` best, best first. A line of the corpus without words is never found.

        Args:
            sentence: raw text.
            count: how many to return.
            judge: its probability decides; without, the cosine does.
            candidates: how many of the highest cosine are judged; at least ``count``.
        """
        wanted = min(max(count, candidates) if judge else count, len(self.lines))
        vector = self.encoder.encode([sentence], language=self.language, normalize=True)
        cosines, places = self.index.search(vector, wanted)
        ranked = zip(places[0].tolist(), cosines[0].tolist(), strict=True)
        near = [(int(self.lines[place]), cosine) for place, cosine in ranked if place >= 0]
        texts = [self.texts[place] for place, _ in near]
        judged: Sequence[float | None] = judge(sentence, texts) if judge else [None] * len(near)
        found = [
            Found(place + 1, text, cosine, probability)
            for (place, cosine), text, probability in zip(near, texts, judged, strict=True)
        ]
        found.sort(key=lambda hit: -(hit.cosine if hit.probability is None else hit.probability))
        return found[:count]
