"""``fairseq-xl corpus export``: parts, folds, files and a data card."""

from __future__ import annotations

import argparse
from collections import Counter
from dataclasses import dataclass, field
from typing import Any

from fairseq_xl.cli.corpus.options import add_project, run_once
from fairseq_xl.corpus.documents.document import read_documents
from fairseq_xl.corpus.documents.project import Project
from fairseq_xl.corpus.pairs import export
from fairseq_xl.corpus.pairs.data_card import card
from fairseq_xl.corpus.pairs.positives import read_positives
from fairseq_xl.corpus.pairs.shallow_baseline import giveaway
from fairseq_xl.corpus.pairs.split import TEST
from fairseq_xl.io.atomic import atomic_text
from fairseq_xl.io.errors import InputError
from fairseq_xl.io.packages import require


@dataclass
class ExportSettings:
    """Section ``export``."""

    name: str = field(default="Bilingual similarity corpus", metadata={"help": "title of the data card"})
    licence: str = field(
        default="", metadata={"help": "the texts' licence as the hub writes it (cc-by-4.0, apache-2.0); empty: unknown"}
    )
    validation: float = field(
        default=0.2,
        metadata={"help": "share of the folds that make the validation part, 2 of 10; the test part was set before"},
    )
    tsv: bool = field(default=True, metadata={"help": "write train.tsv, validation.tsv, test.tsv"})
    parquet: bool = field(default=False, metadata={"help": "write parquet/*.parquet, too (needs pyarrow)"})
    mask: bool = field(default=False, metadata={"help": "put <email> and <phone> in place of what looks like one"})
    giveaway: bool = field(
        default=True,
        metadata={"help": "measure how far lengths and shared words give labels away (needs scikit-learn)"},
    )
    seed: int = field(default=1, metadata={"help": "of the choice of negatives"})


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the step's options."""
    parser.description = (
        "Write as many positives as negatives into DIR/export: data/*.jsonl and README.md, which the library "
        "`datasets` loads as they are, and tables."
    )
    add_project(parser)


def run(args: argparse.Namespace) -> None:
    """Write the corpus.

    Raises:
        InputError: settings that do not fit, no pair left, a package that is missing.
    """
    run_once(
        args,
        "export",
        ExportSettings,
        lambda project, _: [project.folder / name for name in ("topics.jsonl", "positives.tsv", "negatives.tsv")],
        _work,
    )


def _work(project: Project, settings: ExportSettings) -> dict[str, Any]:
    if not 0 < settings.validation < 1:
        raise InputError(f"export.validation is {settings.validation}: give a share between 0 and 1")
    if settings.parquet:
        require("pyarrow.parquet", "corpus")
    positives = read_positives(project.folder / "positives.tsv")
    negatives = export.read_negatives(project.folder / "negatives.tsv", len(positives))
    kept, chosen = export.balanced(positives, negatives, settings.seed)
    if not kept:
        raise InputError("no positive has a negative: run `fairseq-xl corpus negatives` with a wider band")
    urls = {d.id: d.urls for d in read_documents(project.folder / "topics.jsonl")}
    folds = sorted({positive.fold for positive in positives} - {TEST})
    validation = folds[: max(1, round(settings.validation * len(folds)))]
    rows, masked = export.pairs(positives, kept, chosen, urls, validation, settings.mask)
    folder, files = project.folder / "export", {}
    for part in export.PARTS:
        some = [row for row in rows if row.part == part]
        if not some:
            continue
        files[part] = f"data/{part}.jsonl"
        export.write_jsonl(folder / files[part], some)
        if settings.tsv:
            export.write_tsv(folder / f"{part}.tsv", some)
        if settings.parquet:
            export.write_parquet(folder / "parquet" / f"{part}.parquet", some)
    guessed = _guessed(rows, settings) if settings.giveaway else {}
    with atomic_text(folder / "README.md") as stream:
        stream.write(card(project, rows, settings.name, settings.licence, settings.mask, guessed, files))
    parts = Counter(row.part for row in rows)
    return {
        "pairs": len(rows),
        **{part: parts[part] for part in files},
        "positives left out for balance": len(positives) - len(kept),
        "masked": masked,
        **{f"accuracy without understanding, {name}": round(value, 4) for name, value in guessed.items()},
    }


def _guessed(rows: list[export.Pair], settings: ExportSettings) -> dict[str, float]:
    """By the folds; the test part is left alone."""
    some = [(row, row.fold) for row in rows if row.fold is not None]
    folds = [fold for _, fold in some]
    if len(set(folds)) < 2:
        raise InputError("pairs of one fold only: take fewer folds, or a wider band, in `negatives`")
    texts = [(row.sentence1, row.sentence2) for row, _ in some]
    return giveaway(texts, [row.label for row, _ in some], folds, settings.seed)
