"""``fairseq-xl corpus negatives``: pairs that share a topic and not a meaning."""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from fairseq_xl.cli.corpus.options import add_project, run_once
from fairseq_xl.corpus.documents.document import Document, read_documents
from fairseq_xl.corpus.documents.project import Project
from fairseq_xl.corpus.pairs import negatives, split
from fairseq_xl.corpus.pairs.encoders import encode
from fairseq_xl.corpus.pairs.negatives import Band, Lengths, Likeness
from fairseq_xl.corpus.pairs.positives import Placed, Positives, collect, write_positives
from fairseq_xl.io.atomic import atomic_text
from fairseq_xl.io.errors import InputError

HEADER = ("first number", "second number", "cosine", "first", "candidate", "second")


@dataclass
class NegativesSettings:
    """Section ``negatives``."""

    encoder: str = field(
        default="",
        metadata={
            "help": "what gives vectors to the first language's sentences: vectors:FILE (word vectors, averaged), "
            "suite:PATH (an encoder of this suite), sentence-transformers:NAME, transformers:NAME (the paper: "
            "openai-gpt), array:FILE.npy (made elsewhere from what --sentences writes); "
            "paths are from the project's folder on"
        },
    )
    components: int = field(
        default=0, metadata={"help": "vectors:FILE only: principal components to take away (SIF: 1); cosines fall"}
    )
    low: float = field(
        default=0.8,
        metadata={
            "help": "a negative's cosine is above; look at the quantiles that the step prints, for every encoder has "
            "its own scale"
        },
    )
    high: float = field(default=0.9, metadata={"help": "a negative's cosine is below"})
    each: int = field(default=10, metadata={"help": "negatives of a sentence, at most"})
    pool: int = field(
        default=50_000,
        metadata={"help": "candidates looked at for a sentence, at most; lower it for a large site's time"},
    )
    near: float = field(
        default=0.9,
        metadata={
            "help": "word-frequency cosine, in either language, from which sentences say nearly the same and are no "
            "negatives"
        },
    )
    length: float = field(
        default=0.0,
        metadata={
            "help": "a negative's length is off by at most so many standard deviations of the positives' (1: two "
            "thirds of these are nearer), or length alone tells them apart; 0, as in the paper: any length"
        },
    )
    max_page_share: float = field(
        default=0.05, metadata={"help": "leave out lines that stand on more than this share of the pages, as menus do"}
    )
    near_pages: float = field(
        default=0.5, metadata={"help": "pages that share this much of their sentences stay together in one fold"}
    )
    folds: int = field(default=10, metadata={"help": "folds of what is not for testing"})
    test: float = field(default=0.15, metadata={"help": "share of the sentences for testing (the paper: 0.2); 0: none"})
    seed: int = field(default=1, metadata={"help": "of the folds and of the draw"})

    def check(self) -> None:
        """Raises: InputError: settings that do not fit."""
        if not -1 <= self.low < self.high <= 1:
            raise InputError(f"negatives: cosines above {self.low} and below {self.high} there are none: low < high")
        if self.length < 0:
            raise InputError(f"negatives.length is {self.length}: give a number above 0, or 0 for any length")
        for name in ("each", "pool"):
            if getattr(self, name) < 1:
                raise InputError(f"negatives.{name} is {getattr(self, name)}: give 1 or more")
        for name in ("near", "max_page_share", "near_pages"):
            if not 0 < getattr(self, name) <= 1:
                raise InputError(f"negatives.{name} is {getattr(self, name)}: give a number up to 1, above 0")
        if self.folds < 2 or not 0 <= self.test < 1:
            raise InputError(
                f"negatives: {self.folds} folds and {self.test} for testing: give 2 folds or more, and a test share "
                "from 0 to below 1"
            )


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the step's options."""
    parser.description = (
        "Divide the pages into folds and a test part, and find negatives for each sentence: sentences of other pages "
        "of its topic and fold whose cosine with it is in a band. DIR/positives.tsv and DIR/negatives.tsv hold them."
    )
    add_project(parser)
    only = parser.add_mutually_exclusive_group()
    only.add_argument(
        "--sentences",
        type=Path,
        metavar="FILE",
        help="write the first language's sentences, a line each, to be encoded elsewhere, and stop",
    )
    only.add_argument(
        "--quantiles",
        action="store_true",
        help="print the quantiles of cosines within topics, to set the band by, and stop",
    )


def run(args: argparse.Namespace) -> None:
    """Find and write the negatives.

    Raises:
        InputError: settings that do not fit, an encoder that cannot be used, no negative found.
    """
    if not args.sentences and not args.quantiles:
        run_once(args, "negatives", NegativesSettings, _inputs, _work)
        return
    project = Project.open(args.project, args.set)
    settings = project.settings("negatives", NegativesSettings)
    _, topics, positives, _ = _sentences(project, settings)
    if args.sentences:
        with atomic_text(args.sentences) as stream:
            stream.writelines(f"{text}\n" for text in positives.first)
        print(f"{args.sentences}: {len(positives)} sentences", file=sys.stderr)
        return
    vectors = encode(positives.first, _encoder(project, settings), settings.components)
    topic = [topics[page] for page in positives.home]
    _show(negatives.quantiles(vectors, topic, positives.home, settings.seed), settings)


def _inputs(project: Project, settings: NegativesSettings) -> list[Path]:
    kind, _, name = _encoder(project, settings).partition(":")
    return [project.folder / "topics.jsonl", *([Path(name)] if kind in ("array", "vectors") else [])]


def _encoder(project: Project, settings: NegativesSettings) -> str:
    """With paths, which are from the project's folder on."""
    kind, colon, name = settings.encoder.partition(":")
    inside = kind in ("array", "suite", "vectors") and name
    return f"{kind}:{project.folder / name}" if inside else f"{kind}{colon}{name}"


def _sentences(
    project: Project, settings: NegativesSettings
) -> tuple[list[Document], list[int], Positives, np.ndarray]:
    """The pages that have a topic, the topic of each, their sentences, and the fold of each page."""
    settings.check()
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
    vectors = encode(positives.first, _encoder(project, settings), settings.components)
    home = np.array(positives.home)
    topic = np.array(topics)[home]
    cosines = negatives.quantiles(vectors, topic, home, settings.seed)
    _show(cosines, settings)
    area = topic * (settings.folds + 1) + fold[home] + 1
    band = Band(settings.low, settings.high, settings.each, settings.pool)
    alike, fits = Likeness(positives, settings.near), Lengths(positives, settings.length)
    found: list[tuple[int, int, float]] = []
    for block in negatives.search(vectors, area, home, positives.pages, band, alike, fits, settings.seed):
        found.extend(zip(*(column.tolist() for column in block), strict=True))
    if not found:
        raise InputError(
            f"no sentence has a negative: no cosine from {settings.low} to {settings.high} within the topic's pages "
            "of a fold; set the band by the quantiles above, or take fewer topics or folds"
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
        "quantiles": {str(q): round(float(np.quantile(cosines, q)), 4) for q in negatives.QUANTILES}
        if len(cosines)
        else {},
    }


def _show(cosines: np.ndarray, settings: NegativesSettings) -> None:
    """Print what cosines there are within topics, and how many are in the band."""
    if not len(cosines):
        raise InputError(
            "no topic has sentences on two pages, so there are no negatives: take fewer topics, or more pages"
        )
    print("cosines of sentences of the same topic:", file=sys.stderr)
    for share in negatives.QUANTILES:
        print(f"  {share:6.1%} are below {np.quantile(cosines, share):.3f}", file=sys.stderr)
    inside = np.mean((cosines > settings.low) & (cosines < settings.high))
    print(f"  {inside:.2%} are between {settings.low} and {settings.high}", file=sys.stderr)


def _write_negatives(path: Path, rows: Sequence[Placed], found: Sequence[tuple[int, int, float]]) -> None:
    """Numbers of both positives, and the texts for whoever reads them."""
    with atomic_text(path) as stream:
        stream.write("\t".join(HEADER) + "\n")
        for left, right, cosine in found:
            texts = rows[left].first, rows[right].first, rows[right].second
            stream.write("\t".join([str(left), str(right), f"{cosine:.4f}", *texts]) + "\n")
