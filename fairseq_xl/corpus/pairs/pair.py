"""The rows of the exported corpus, and the files that hold them."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any

from fairseq_xl.io.atomic import atomic_outputs, atomic_text
from fairseq_xl.io.packages import require

SPLITS = ("train", "validation", "test")


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
        fold: from 0 on; None in the test split.
        split: train, validation (the first folds), test.
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
    split: str


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
