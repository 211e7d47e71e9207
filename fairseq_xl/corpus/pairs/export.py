"""The step ``export``: as many pairs that mean the same as not, in splits that share no page and no sentence."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import astuple, dataclass, fields
from pathlib import Path
from typing import Any

import numpy as np

from fairseq_xl.corpus.documents.document import read_documents
from fairseq_xl.corpus.pairs.data_card import card
from fairseq_xl.corpus.pairs.pair import SPLITS, Pair, write_jsonl, write_parquet
from fairseq_xl.corpus.pairs.positives import Placed, read_positives
from fairseq_xl.corpus.pairs.shallow_baseline import shallow_baseline
from fairseq_xl.corpus.pairs.split import TEST
from fairseq_xl.corpus.project import Project, Step
from fairseq_xl.io.atomic import atomic_text
from fairseq_xl.io.errors import InputError
from fairseq_xl.io.folders import own_files
from fairseq_xl.io.lines import read_lines
from fairseq_xl.io.packages import require
from fairseq_xl.io.settings import GREATEST_SEED, option
from fairseq_xl.io.tables import write_tsv
from fairseq_xl.text.masking import masked

Negative = tuple[int, int, float]
"""Numbers of the positives that give the first and the second sentence, and the cosine of their first sentences."""


@dataclass
class ExportSettings:
    """Section ``export``."""

    name: str = option("title of the data card", "Bilingual similarity corpus")
    licence: str = option("the texts' licence as the hub writes it (cc-by-4.0, apache-2.0); empty: unknown", "")
    validation: float = option(
        "share of the folds that make the validation split, 2 of 10. The test split was set before",
        0.2,
        low=0.01,
        high=0.99,
    )
    tsv: bool = option("write train.tsv, validation.tsv, test.tsv", True)
    parquet: bool = option("write parquet/*.parquet, too (needs pyarrow)", False)
    mask: bool = option("put <email> and <phone> in place of what looks like one", False)
    shallow_baseline: bool = option(
        "measure how far lengths, shared words and punctuation alone give labels away (needs scikit-learn)", True
    )
    paired: bool = option(
        "keep only the positives that have a negative, and one negative of each. What negatives.length and "
        "negatives.overlap match then stays matched",
        False,
    )
    seed: int = option("of the choice of negatives", 1, low=0, high=GREATEST_SEED)


def read_negatives(path: Path, count: int) -> list[Negative]:
    """The numbers and cosines of negatives.tsv. Raises: InputError: the file is missing, or a row is invalid."""
    found = []
    for number, line in enumerate(read_lines(path), start=1):
        if number == 1:
            continue
        try:
            left, right, cosine = line.split("\t")[:3]
            found.append((int(left), int(right), float(cosine)))
            if not (0 <= found[-1][0] < count and 0 <= found[-1][1] < count):
                raise ValueError
        except ValueError:
            raise InputError(f"{path}, line {number}: no negative: run `fairseq-xl corpus negatives` again") from None
    return found


def balanced(
    positives: Sequence[Placed], negatives: Sequence[Negative], seed: int, paired: bool = False
) -> tuple[list[int], list[Negative]]:
    """In each fold as many positives as negatives.

    Each positive with negatives gives its first sentence to one of them. It is the one whose second sentence is in the
    fewest pairs so far. Second sentences, too, are therefore in positives and negatives alike. If some positives have
    none, others give more. If all negatives together are too few, positives without any are left out first. With
    ``paired`` no positive gives more than one, and those without any are left out.
    """
    random = np.random.default_rng(seed)
    by_fold: dict[int, list[int]] = defaultdict(list)
    for number, positive in enumerate(positives):
        by_fold[positive.fold].append(number)
    options: dict[int, list[Negative]] = defaultdict(list)
    for negative in negatives:
        options[negative[0]].append(negative)
    kept, chosen = [], []
    for fold in sorted(by_fold):
        numbers = random.permutation(by_fold[fold]).tolist()
        uses: Counter[int] = Counter()
        left = {number: list(options[number]) for number in numbers if options[number]}
        taken: list[Negative] = []
        while left and len(taken) < len(numbers):
            for number in list(left):
                if len(taken) == len(numbers):
                    break
                best = min(left[number], key=lambda negative: (uses[negative[1]], negative))
                left[number].remove(best)
                if paired or not left[number]:
                    del left[number]
                uses[best[1]] += 1
                taken.append(best)
        numbers.sort(key=lambda number: not options[number])  # the sort is stable: those without options come last
        kept += numbers[: len(taken)]
        chosen += taken
    return sorted(kept), sorted(chosen)


def pairs(
    positives: Sequence[Placed],
    kept: Iterable[int],
    chosen: Iterable[Negative],
    urls: dict[str, tuple[str, str]],
    validation: Sequence[int],
    mask: bool,
) -> tuple[list[Pair], int]:
    """The rows, and how many addresses and numbers were masked.

    Args:
        urls: of each page.
        validation: folds of the validation split.
    """
    rows: list[Pair] = []
    hidden = 0
    some = [(number, number, None) for number in kept]
    for left, right, cosine in [*some, *chosen]:
        first, second = positives[left], positives[right]
        texts = [first.first, second.second]
        if mask:
            done = [masked(text) for text in texts]
            texts = [text for text, _ in done]
            hidden += sum(count for _, count in done)
        split = "test" if first.fold == TEST else "validation" if first.fold in validation else "train"
        rows.append(
            Pair(
                id=len(rows),
                sentence1=texts[0],
                sentence2=texts[1],
                label=int(cosine is None),
                document1=first.page,
                document2=second.page,
                url1=urls[first.page][0],
                url2=urls[second.page][1],
                topic=first.topic,
                cosine=cosine,
                fold=None if first.fold == TEST else first.fold,
                split=split,
            )
        )
    return rows, hidden


def _inputs(project: Project, settings: ExportSettings) -> list[Path]:
    return [project.folder / name for name in ("topics.jsonl", "positives.tsv", "negatives.tsv")]


def _work(project: Project, settings: ExportSettings) -> dict[str, Any]:
    if settings.parquet:
        require("pyarrow.parquet", "corpus")
    positives = read_positives(project.folder / "positives.tsv")
    negatives = read_negatives(project.folder / "negatives.tsv", len(positives))
    kept, chosen = balanced(positives, negatives, settings.seed, settings.paired)
    if not kept:
        raise InputError("no positive has a negative: run `fairseq-xl corpus negatives` with a wider band")
    urls = {d.id: d.urls for d in read_documents(project.folder / "topics.jsonl")}
    folds = sorted({positive.fold for positive in positives} - {TEST})
    validation = folds[: min(len(folds) - 1, max(1, round(settings.validation * len(folds))))]  # one is trained on
    rows, hidden = pairs(positives, kept, chosen, urls, validation, settings.mask)
    files = {}
    with own_files(project.folder / "export", "corpus export") as folder:
        for split in SPLITS:
            some = [row for row in rows if row.split == split]
            if not some:
                continue
            files[split] = f"data/{split}.jsonl"
            write_jsonl(folder / files[split], some)
            if settings.tsv:
                write_tsv(folder / f"{split}.tsv", [field.name for field in fields(Pair)], map(astuple, some))
            if settings.parquet:
                write_parquet(folder / "parquet" / f"{split}.parquet", some)
        shallow = _shallow(rows, settings) if settings.shallow_baseline else {}
        with atomic_text(folder / "README.md") as stream:
            stream.write(card(project, rows, settings.name, settings.licence, settings.mask, shallow, files))
    sizes = Counter(row.split for row in rows)
    return {
        "pairs": len(rows),
        **{split: sizes[split] for split in files},
        "positives left out for balance": len(positives) - len(kept),
        "masked": hidden,
        **{f"shallow baseline, {name}": round(value, 4) for name, value in shallow.items()},
    }


def _shallow(rows: list[Pair], settings: ExportSettings) -> dict[str, float]:
    if len({row.fold for row in rows if row.fold is not None}) < 2:
        raise InputError("the pairs are of one fold only: take fewer folds, or a wider band, in `negatives`")
    return shallow_baseline(rows, settings.seed)


STEP = Step(ExportSettings, _inputs, ["export/README.md", "export/data"], _work)
