"""The step ``negatives``: folds, and pairs that share a topic and not a meaning."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from fairseq_xl.corpus.documents.document import Document, read_documents
from fairseq_xl.corpus.pairs import split
from fairseq_xl.corpus.pairs.negative_search import QUANTILES, Band, quantiles, search
from fairseq_xl.corpus.pairs.positives import Placed, Positives, collect, write_positives
from fairseq_xl.corpus.pairs.rules import rules_of
from fairseq_xl.corpus.project import Project, Step
from fairseq_xl.encode.averaged import Averaging
from fairseq_xl.encode.registry import KINDS, described, load_encoder
from fairseq_xl.io.atomic import atomic_text
from fairseq_xl.io.errors import InputError
from fairseq_xl.io.settings import GREATEST_SEED, option
from fairseq_xl.io.tables import write_tsv
from fairseq_xl.text.words import words
from fairseq_xl.vectors.neighbours import unit_rows

SMOOTHING = 1e-3
"""a of SIF."""
HEADER = ("first number", "second number", "cosine", "first", "candidate", "second")


@dataclass
class NegativesSettings:
    """Section ``negatives``."""

    encoder: str = option(
        "what gives vectors to the first language's sentences. Name an encoder folder or a checkpoint of this suite, "
        "or give vectors:FILE (word vectors, averaged by SIF), sentence-transformers:NAME or transformers:NAME (the "
        "paper's is openai-gpt). For vectors made elsewhere from what --sentences writes, give npy:FILE. Paths are "
        "relative to the project's folder",
        "",
    )
    components: int = option("vectors:FILE only: principal components to remove (SIF: 1). Cosines fall", 0, low=0)
    low: float = option(
        "a negative's cosine is above this. Look at the quantiles that the step prints: each encoder has its own scale",
        0.8,
        low=-1,
        high=1,
    )
    high: float = option("a negative's cosine is below this", 0.9, low=-1, high=1)
    each: int = option("negatives of a sentence, at most", 10, low=1)
    pool: int = option(
        "candidates looked at for a sentence, at most. Lower it to save time on a large site", 50_000, low=1
    )
    near: float = option(
        "sentences with this word-frequency cosine or more, in either language, are nearly the same and no negatives",
        0.9,
        low=0.01,
        high=1,
    )
    length: float = option(
        "a negative is about as long as the sentence's own counterpart. In the logarithm of characters it is off by at "
        "most so many standard deviations of what a sentence and its counterpart differ by. Without it, length alone "
        "tells them apart. 0 allows any length, as in the paper",
        0.0,
        low=0,
    )
    overlap: float = option(
        "a negative's share of common words, and that of common punctuation, differ by at most this from those of the "
        "sentence and its own counterpart. Without it, names and numbers tell them apart. 1 allows any share, as in "
        "the paper. Use it with export.paired, and look at the shallow baseline that `export` prints. Smaller values "
        "leave fewer pairs, and a wider band from low to high leaves more",
        1.0,
        low=0,
        high=1,
    )
    max_page_share: float = option(
        "leave out lines that stand on more than this share of the pages, as menus do", 0.05, low=0.000001, high=1
    )
    near_pages: float = option(
        "pages that share this much of their sentences stay together in one fold", 0.5, low=0.01, high=1
    )
    folds: int = option("folds of what is not for testing", 10, low=2)
    test: float = option("share of the sentences for testing (the paper: 0.2); 0: none", 0.15, low=0, high=0.99)
    seed: int = option("of the folds and of the draw", 1, low=0, high=GREATEST_SEED)


def write_sentences(project: Project, output: Path) -> int:
    """Write the first language's sentences, a line each, to be encoded elsewhere, and return how many.

    Raises:
        InputError: settings do not fit, or there is no sentence.
    """
    _, _, positives, _ = _sentences(project, _settings(project))
    with atomic_text(output) as stream:
        stream.writelines(f"{text}\n" for text in positives.first)
    return len(positives)


def show_quantiles(project: Project) -> None:
    """Print the quantiles of cosines within topics.

    Raises:
        InputError: settings do not fit, or the encoder cannot be used.
    """
    settings = _settings(project)
    _, topics, positives, _ = _sentences(project, settings)
    vectors = encode(project, settings, positives.first)
    topic = [topics[page] for page in positives.home]
    _print_quantiles(quantiles(vectors, topic, positives.home, settings.seed), settings)


def _settings(project: Project) -> NegativesSettings:
    settings = project.settings("negatives", NegativesSettings)
    _inputs(project, settings)
    return settings


def _inputs(project: Project, settings: NegativesSettings) -> list[Path]:
    if settings.low >= settings.high:
        raise InputError(f"negatives: no cosine is above {settings.low} and below {settings.high}: give low < high")
    if settings.components and not settings.encoder.startswith("vectors:"):
        raise InputError("negatives: components are of averaged word vectors: name them as encoder, or leave them at 0")
    file = _encoder(project, settings)[1]
    found = [Path(file)] if file and Path(file).exists() else []  # otherwise the encoder has a better message
    return [project.folder / "topics.jsonl", *found]


def _encoder(project: Project, settings: NegativesSettings) -> tuple[str, str]:
    """The encoder's name with its path relative to the project's folder, and that path. It is empty for a mere name."""
    kind, _, name = settings.encoder.partition(":")
    if kind in ("npy", "vectors") and name:
        file = str(project.folder / name)
        return f"{kind}:{file}", file
    if kind in KINDS or not settings.encoder:
        return settings.encoder, ""
    file = str(project.folder / settings.encoder)
    return file, file


def encode(project: Project, settings: NegativesSettings, sentences: Sequence[str]) -> np.ndarray:
    """Vectors (N, d) float32 of length 1, or zeros for a sentence that the encoder knows nothing of.

    Raises:
        InputError: the encoder cannot be used.
    """
    if not settings.encoder:
        raise InputError(f"negatives.encoder is missing: name an encoder's folder, a checkpoint, or {described()}")
    return unit_vectors(_encoder(project, settings)[0], sentences, settings.components)


def unit_vectors(encoder: str, sentences: Sequence[str], components: int = 0) -> np.ndarray:
    """Vectors (N, d) float32 of length 1, or zeros for a sentence that the encoder knows nothing of.

    Args:
        encoder: as :func:`~fairseq_xl.encode.registry.load_encoder` reads it.
        components: principal components to remove from averaged word vectors.

    Raises:
        InputError: the encoder cannot be used.
    """
    found = load_encoder(encoder, averaging=Averaging(words, SMOOTHING, components))
    vectors = np.ascontiguousarray(found.encode(sentences), dtype=np.float32)
    return unit_rows(vectors)


def _sentences(
    project: Project, settings: NegativesSettings
) -> tuple[list[Document], list[int], Positives, np.ndarray]:
    """The pages that have a topic, the topic of each, their sentences, and the fold of each page."""
    found = read_documents(project.folder / "topics.jsonl")
    placed = [(document, document.topic) for document in found if document.topic is not None]
    documents, topics = [document for document, _ in placed], [topic for _, topic in placed]
    positives = collect(documents, settings.max_page_share)
    if not len(positives):
        raise InputError(f"no sentence is left: {dict(positives.counts)}; raise negatives.max_page_share")
    group = split.near_copies(positives.pages, len(documents), settings.near_pages)
    weight = np.bincount(positives.home, minlength=len(documents))
    fold = split.assign(group, topics, weight, settings.folds, settings.test, settings.seed)
    return documents, topics, positives, fold


def _work(project: Project, settings: NegativesSettings) -> dict[str, Any]:
    documents, topics, positives, fold = _sentences(project, settings)
    vectors = encode(project, settings, positives.first)
    home = np.array(positives.home)
    topic = np.array(topics)[home]
    cosines = quantiles(vectors, topic, home, settings.seed)
    _print_quantiles(cosines, settings)
    area = topic * (settings.folds + 1) + fold[home] + 1
    band = Band(settings.low, settings.high, settings.each, settings.pool)
    rules = rules_of(positives, settings)
    found: list[tuple[int, int, float]] = []
    for block in search(vectors, area, home, positives.pages, band, rules, settings.seed):
        found.extend(zip(*(column.tolist() for column in block), strict=True))
    if not found:
        raise InputError(
            f"no sentence has a negative: no cosine from {settings.low} to {settings.high} is within the topic's pages "
            "of a fold. Set the band by the quantiles above, take fewer topics or folds, or allow more by "
            "negatives.length and negatives.overlap"
        )
    found.sort()
    rows = [
        Placed(documents[page].id, int(topic[k]), int(fold[page]), positives.first[k], positives.second[k])
        for k, page in enumerate(positives.home)
    ]
    write_positives(project.folder / "positives.tsv", rows)
    _write_negatives(project.folder / "negatives.tsv", rows, found)
    per = Counter(first for first, _, _ in found)
    return {
        "pages": len(documents),
        **positives.counts,
        "positives": len(rows),
        "negatives": len(found),
        "sentences without negatives": len(rows) - len(per),
        "sentences without a vector": int((~vectors.any(1)).sum()),
        "positives of each fold": {
            "test" if k == split.TEST else str(k): int((fold[home] == k).sum()) for k in sorted(set(fold.tolist()))
        },
        "quantiles": {str(q): round(float(np.quantile(cosines, q)), 4) for q in QUANTILES} if len(cosines) else {},
    }


def _print_quantiles(cosines: np.ndarray, settings: NegativesSettings) -> None:
    """Print what cosines there are within topics, and how many are in the band."""
    if not len(cosines):
        raise InputError(
            "no topic has sentences on two pages, so there are no negatives: take fewer topics, or more pages"
        )
    print("cosines of sentences of the same topic:", file=sys.stderr)
    for share in QUANTILES:
        print(f"  {share:6.1%} are below {np.quantile(cosines, share):.3f}", file=sys.stderr)
    inside = np.mean((cosines > settings.low) & (cosines < settings.high))
    print(f"  {inside:.2%} are between {settings.low} and {settings.high}", file=sys.stderr)


def _write_negatives(path: Path, rows: Sequence[Placed], found: Sequence[tuple[int, int, float]]) -> None:
    """Numbers of both positives, and the texts for readers."""
    cells = (
        (left, right, f"{cosine:.4f}", rows[left].first, rows[right].first, rows[right].second)
        for left, right, cosine in found
    )
    write_tsv(path, HEADER, cells)


STEP = Step(NegativesSettings, _inputs, ["positives.tsv", "negatives.tsv"], _work)
