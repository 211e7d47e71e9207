"""Labelled pairs, as many that mean the same as not, in parts that share no page and no sentence."""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any

import numpy as np

from fairseq_xl.corpus.documents.personal import masked
from fairseq_xl.corpus.pairs.positives import Placed
from fairseq_xl.corpus.pairs.split import TEST
from fairseq_xl.io.atomic import atomic_outputs, atomic_text
from fairseq_xl.io.errors import InputError
from fairseq_xl.io.lines import read_lines
from fairseq_xl.io.packages import require

PARTS = ("train", "validation", "test")
Negative = tuple[int, int, float]
"""Numbers of the positives that give the first and the second sentence, and the cosine of the first's ones."""


@dataclass(frozen=True)
class Pair:
    """A row of the corpus; its fields are its columns.

    Attributes:
        id: running number.
        sentence1, sentence2: in the first and the second language.
        label: 1 where they mean the same.
        document1, document2: the pages that they are from; url1, url2: where these are.
        topic: of both pages.
        cosine: of a negative's first sentence and the one that its second translates; None of positives.
        fold: from 0 on; None in the test part.
        part: train, validation (the first folds), test.
    """

    id: int
    sentence1: str
    sentence2: str
    label: int
    document1: str
    document2: str
    url1: str
    url2: str
    topic: int
    cosine: float | None
    fold: int | None
    part: str


def read_negatives(path: Path, count: int) -> list[Negative]:
    """The numbers and cosines of negatives.tsv. Raises: InputError: no such file, or a row that is none."""
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


def balanced(positives: Sequence[Placed], negatives: Sequence[Negative], seed: int) -> tuple[list[int], list[Negative]]:
    """In each fold as many positives as negatives.

    Each positive gives its first sentence to one negative, where it has any; of these the one is taken whose second
    sentence stands in the fewest so far, so that second sentences, too, are in positives and negatives alike. Where
    some have none, others give more; where all negatives together are too few, positives without any are left out
    first.
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
                if not left[number]:
                    del left[number]
                uses[best[1]] += 1
                taken.append(best)
        numbers.sort(key=lambda number: not options[number])  # stable: those without come last
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
        validation: folds of the validation part.
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
        part = "test" if first.fold == TEST else "validation" if first.fold in validation else "train"
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
                part=part,
            )
        )
    return rows, hidden


def write_tsv(path: Path, rows: Iterable[Pair]) -> None:
    """A header and a row a pair, nothing quoted; what is None is empty."""
    with atomic_text(path) as stream:
        stream.write("\t".join(field.name for field in fields(Pair)) + "\n")
        for row in rows:
            cells = ("" if value is None else str(value) for value in asdict(row).values())
            stream.write("\t".join(cells) + "\n")


def write_jsonl(path: Path, rows: Iterable[Pair]) -> None:
    """A JSON object a line."""
    with atomic_text(path) as stream:
        for row in rows:
            stream.write(json.dumps(asdict(row), ensure_ascii=False) + "\n")


def write_parquet(path: Path, rows: Sequence[Pair]) -> None:
    """Columns of the fields' types. Raises: InputError: pyarrow is missing."""
    arrow, parquet = require("pyarrow", "corpus"), require("pyarrow.parquet", "corpus")
    kinds: dict[str, Any] = {"int": arrow.int64(), "str": arrow.string(), "float": arrow.float64()}
    schema = arrow.schema([(field.name, kinds[str(field.type).split(" ")[0]]) for field in fields(Pair)])
    path.parent.mkdir(parents=True, exist_ok=True)
    with atomic_outputs(path) as (temporary,):
        parquet.write_table(arrow.Table.from_pylist([asdict(row) for row in rows], schema), temporary)
