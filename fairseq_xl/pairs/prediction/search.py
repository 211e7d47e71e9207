"""The questions of a corpus that mean the same as a new one: near vectors first, then a classifier of pairs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from scipy.special import expit

from fairseq_xl.io.atomic import write_json
from fairseq_xl.io.errors import InputError
from fairseq_xl.io.folders import atomic_folder
from fairseq_xl.io.lines import read_lines
from fairseq_xl.io.steps import is_done, signature
from fairseq_xl.pairs.prediction.predictor import Predictor
from fairseq_xl.vectors.faiss_index import build_index, set_effort
from fairseq_xl.vectors.formats.npy import open_array

MANIFEST, VECTORS = "index.json", "vectors.npy"


@dataclass(frozen=True)
class Found:
    """A question of the corpus.

    Attributes:
        line: in the corpus, from 1.
        text: as it stands there.
        cosine: of its vector with the new question's.
        probability: that the two mean the same; None without a classifier.
    """

    line: int
    text: str
    cosine: float
    probability: float | None


class QuestionIndex:
    """A corpus with the vectors of its questions.

    Args:
        folder: kept vectors, used again while corpus and encoder are the same.
        corpus: a question a line.
        encoder: a :class:`fairseq_xl.SentenceEncoder`.
        source: the file or folder that the encoder is from.
        kind: of the faiss index: flat, hnsw or ivf.

    Raises:
        InputError: a corpus without questions, or a folder that holds something else.
    """

    def __init__(self, folder: Path, corpus: Path, encoder: Any, source: Path, kind: str = "flat"):
        self.texts = list(read_lines(corpus))
        if not any(text.strip() for text in self.texts):
            raise InputError(f"{corpus} holds no text to search")
        self.encoder, self.kind = encoder, kind
        wanted = signature(None, [corpus, source])
        if not is_done(folder / MANIFEST, wanted, [folder / VECTORS]):
            vectors = encoder.encode(self.texts, normalize=True)
            with atomic_folder(folder, MANIFEST, "an index of sentences") as new:
                np.save(new / VECTORS, vectors, allow_pickle=False)
                write_json(new / MANIFEST, wanted)
        self.vectors = np.ascontiguousarray(open_array(folder / VECTORS), dtype=np.float32)
        self.index = build_index(self.vectors, kind)
        set_effort(self.index, kind)

    def search(
        self, questions: Sequence[str], count: int, classifier: Predictor | None = None, candidates: int = 100
    ) -> list[list[Found]]:
        """The ``count`` best for each question, best first.

        Args:
            questions: raw text.
            count: how many to return for each.
            classifier: judges the ``candidates`` with the highest cosine; without, the cosine decides.
            candidates: see there; at least ``count``.
        """
        wanted = min(max(count, candidates) if classifier else count, len(self.texts))
        cosines, lines = self.index.search(self.encoder.encode(questions, normalize=True), wanted)
        found = []
        for question, row, places in zip(questions, cosines.tolist(), lines.tolist(), strict=True):
            near = [(place, cosine) for place, cosine in zip(places, row, strict=True) if place >= 0]
            shares: list[float | None] = [None] * len(near)
            if classifier is not None:
                pairs = classifier.rows([(question, self.texts[place]) for place, _ in near])
                shares = expit(classifier.logits(pairs, progress=False)).tolist()
            hits = [
                Found(place + 1, self.texts[place], cosine, share)
                for (place, cosine), share in zip(near, shares, strict=True)
            ]
            hits.sort(key=lambda hit: -(hit.cosine if hit.probability is None else hit.probability))
            found.append(hits[:count])
        return found
