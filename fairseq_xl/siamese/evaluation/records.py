"""A record: what a system predicted for a split, as JSON, for `fairseq-xl classify report` and `gain`.

name, split, languages, classes, seed     of what; ``languages`` are codes by side, low and high
training_sentences                        by side
gold, predicted                           (N,) class numbers
macro_f1, sentences_per_second            and what else the system has to say
line, low_resource_size                   where it is a point of a learning curve
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

from fairseq_xl.io.json_files import opened_json
from fairseq_xl.report.classification import confusion, macro_f1

if TYPE_CHECKING:
    from fairseq_xl.siamese.data.directory import DataDirectory

Record = dict[str, Any]


def make(
    name: str,
    directory: DataDirectory,
    split: str,
    gold: Sequence[int],
    predicted: Sequence[int],
    *,
    seed: int,
    training_sentences: Mapping[str, int],
    **more: Any,
) -> Record:
    """The record of a system's predictions; ``more`` are entries that only some systems have."""
    return {
        "name": name,
        "split": split,
        "languages": directory.manifest["languages"],
        "classes": directory.classes,
        "seed": seed,
        "training_sentences": dict(training_sentences),
        "gold": list(gold),
        "predicted": list(predicted),
        "macro_f1": macro_f1(confusion(gold, predicted, len(directory.classes))),
        **more,
    }


def write(record: Record, stream: TextIO) -> None:
    json.dump(record, stream, ensure_ascii=False)
    stream.write("\n")


def read(path: Path) -> Record:
    """Raises: InputError: no record of predictions."""
    record: Record
    with opened_json(path, "record of predictions", "write it anew") as record:
        check(record)
    return record


def check(record: Record) -> None:
    """Raises: ValueError, KeyError, TypeError, AttributeError: what no step would write."""
    sizes = record["training_sentences"]
    names = [record["name"], record["split"], record.get("line", ""), *record["languages"].values()]
    if not all(isinstance(name, str) for name in (*names, *record["classes"])) or "low" not in record["languages"]:
        raise ValueError("names are not text")
    if not all(type(size) is int and size > 0 for size in (*sizes.values(), record.get("low_resource_size", 1))):
        raise ValueError("sizes are not numbers")
    gold, predicted = record["gold"], record["predicted"]
    if not gold or len(gold) != len(predicted):
        raise ValueError(f"{len(predicted)} predictions for {len(gold)} sentences")
    if not all(type(c) is int and 0 <= c < len(record["classes"]) for c in (*gold, *predicted)):
        raise ValueError("classes that there are not")
