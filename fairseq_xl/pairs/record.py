"""A record of probabilities: what every matcher leaves behind, and ensembles and reports read. Plain JSON."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from fairseq_xl.errors import InputError
from fairseq_xl.text.lines import replacing


@dataclass
class PairRecord:
    """What a matcher says of the pairs of one part.

    Attributes:
        name: of the matcher, as tables show it: ``esim``. Runs of one name differ in the seed.
        part: train, valid or test of a prepared folder, or the name of a file.
        seed: of the training.
        ids: (N,) of the pairs, unique; those of a prepared folder's rows.
        gold: (N,) labels 0 and 1; None where nobody knows.
        probability: (N,) that the two mean the same.
        group: (N,) pairs with sentences in common are of one group; for grouped folds and intervals.
        about: settings, versions, times: whatever explains the numbers.
    """

    name: str
    part: str
    seed: int
    ids: list[str]
    gold: list[int] | None
    probability: list[float]
    group: list[int]
    about: dict[str, Any] = field(default_factory=dict)

    def write(self, path: Path) -> None:
        with replacing(path) as stream:
            json.dump(asdict(self), stream, ensure_ascii=False)
            stream.write("\n")

    @classmethod
    def read(cls, path: Path) -> PairRecord:
        """Raises: InputError: no such file, or one that holds no record or an impossible one."""
        try:
            record = cls(**json.loads(path.read_text(encoding="utf-8")))
        except FileNotFoundError:
            raise InputError(f"there is no record {path}") from None
        except (ValueError, TypeError) as error:
            raise InputError(f"{path} is no record of pairs ({error}): make it again") from None
        record.check(str(path))
        return record

    def check(self, where: str) -> None:
        """Raises: InputError: lists of different length, ids twice, or probabilities outside 0 to 1."""
        size = len(self.ids)
        lists = [self.probability, self.group, *([self.gold] if self.gold is not None else [])]
        if any(len(values) != size for values in lists):
            raise InputError(f"{where}: its lists differ in length: make it again")
        if len(set(self.ids)) != size:
            raise InputError(f"{where}: an id stands there twice: make it again")
        probability = np.asarray(self.probability, dtype=float)
        if not ((probability >= 0) & (probability <= 1)).all():
            raise InputError(f"{where}: a probability is not a number from 0 to 1: make it again")


def aligned(records: Sequence[PairRecord]) -> np.ndarray:
    """(records, N) probabilities in the order of the first record's ids.

    Raises:
        InputError: records of different pairs.
    """
    rows = []
    for record in records:
        place = {name: i for i, name in enumerate(record.ids)}
        if place.keys() != set(records[0].ids):
            raise InputError(
                f"the records {records[0].name} and {record.name} are of different pairs: predict the same part"
            )
        rows.append([record.probability[place[name]] for name in records[0].ids])
    return np.asarray(rows, dtype=float)
