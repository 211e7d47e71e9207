"""A record of probabilities: what every classifier leaves behind, and ensembles and reports read. Plain JSON."""

from __future__ import annotations

from collections.abc import Sequence, Sized
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from fairseq_xl.io.atomic import write_json
from fairseq_xl.io.errors import InputError
from fairseq_xl.io.json_files import opened_json

if TYPE_CHECKING:
    from fairseq_xl.pairs.data.directory import Row


@dataclass
class PairRecord:
    """What a classifier says of the pairs of one split.

    Attributes:
        name: of the classifier, as tables show it: ``esim``. Runs of one name differ in the seed.
        split: train, valid or test of a data directory, or the name of a file.
        seed: of the training.
        ids: (N,) of the pairs, unique; those of a data directory's rows.
        gold: (N,) labels 0 and 1; None where nobody knows.
        probability: (N,) that the two mean the same.
        group: (N,) pairs with sentences in common are of one group; for grouped folds and intervals.
        about: settings, versions, times: whatever explains the numbers. Reports read ``training_seconds``.
    """

    name: str
    split: str
    seed: int
    ids: list[str]
    gold: list[int] | None
    probability: list[float]
    group: list[int]
    about: dict[str, Any] = field(default_factory=dict)

    @classmethod
    def of_rows(
        cls, name: str, split: str, seed: int, rows: Sequence[Row], probability: np.ndarray, about: dict[str, Any]
    ) -> PairRecord:
        """Of rows of a data directory, whose labels count where all have one."""
        gold = [row.label for row in rows if row.label is not None]
        return cls(
            name,
            split,
            seed,
            [row.id for row in rows],
            gold if len(gold) == len(rows) else None,
            probability.tolist(),
            [row.group for row in rows],
            about,
        )

    def write(self, path: Path) -> None:
        write_json(path, asdict(self), ensure_ascii=False)

    @classmethod
    def read(cls, path: Path) -> PairRecord:
        """Raises: InputError: no such file, or one that holds no record or an impossible one."""
        with opened_json(path, "record of pairs", "make it again") as found:
            record = cls(**found)
            record.check(str(path))
        return record

    def check(self, where: str) -> None:
        """Raises: InputError: values of other types, lists of different length, no pair, an id twice, impossible labels
        or probabilities."""
        if not all(isinstance(name, str) for name in (self.name, self.split, *self.ids)):
            raise InputError(f"{where}: a name or an id is no text: make it again")
        if not all(type(number) is int and abs(number) < 2**63 for number in (self.seed, *self.group)):
            raise InputError(f"{where}: its seed or a group is no whole number: make it again")
        if not isinstance(self.about, dict):
            raise InputError(f"{where}: what it is about is no table: make it again")
        size = len(self.ids)
        if not size:
            raise InputError(f"{where}: it has no pair: make it again")
        lists: list[Sized] = [self.probability, self.group, *([self.gold] if self.gold is not None else [])]
        if any(len(values) != size for values in lists):
            raise InputError(f"{where}: its lists differ in length: make it again")
        if len(set(self.ids)) != size:
            raise InputError(f"{where}: an id stands there twice: make it again")
        probability = np.asarray(self.probability, dtype=float)
        if not ((probability >= 0) & (probability <= 1)).all():
            raise InputError(f"{where}: a probability is not a number from 0 to 1: make it again")
        if self.gold is not None and not set(self.gold) <= {0, 1}:
            raise InputError(f"{where}: a label is neither 0 nor 1: make it again")


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
                f"the records {records[0].name} and {record.name} are of different pairs: predict the same split"
            )
        rows.append([record.probability[place[name]] for name in records[0].ids])
    return np.asarray(rows, dtype=float)


@dataclass(frozen=True)
class ClassifierRuns:
    """Runs of several pair classifiers on the same pairs, in one order.

    Attributes:
        ids: (N,) of the pairs.
        gold: (N,) labels; None where nobody knows.
        group: (N,)
        runs: by a classifier's name, (R, N) probabilities of its R runs.
        records: by a classifier's name, the records of its runs.
    """

    ids: list[str]
    gold: np.ndarray | None
    group: np.ndarray
    runs: dict[str, np.ndarray]
    records: dict[str, list[PairRecord]]

    @property
    def means(self) -> np.ndarray:
        """(N, M) probabilities by M classifiers, averaged over their runs."""
        return np.stack([runs.mean(0) for runs in self.runs.values()], axis=1)

    @property
    def labels(self) -> np.ndarray:
        """The labels. Raises: InputError: there are none."""
        if self.gold is None:
            raise InputError("the pairs of these records have no labels: predict a labelled split")
        return self.gold


def together(records: Sequence[PairRecord]) -> ClassifierRuns:
    """Records by name, in the order of each name's first.

    Raises:
        InputError: records of different pairs or with different labels; two of one name and seed.
    """
    probability = aligned(records)
    first = records[0]
    gold: dict[str, int] | None = None
    places: dict[str, dict[int, int]] = {}
    for i, record in enumerate(records):
        if record.gold is not None:
            labels = dict(zip(record.ids, record.gold, strict=True))
            if gold not in (None, labels):
                raise InputError(
                    f"the records {first.name} and {record.name} have different labels for the same pairs: predict "
                    "one data directory"
                )
            gold = labels
        seeds = places.setdefault(record.name, {})
        if record.seed in seeds:
            raise InputError(
                f"two records are of {record.name} with seed {record.seed}: give each run once, or name them apart"
            )
        seeds[record.seed] = i
    return ClassifierRuns(
        first.ids,
        None if gold is None else np.array([gold[name] for name in first.ids]),
        np.asarray(first.group),
        {name: probability[list(seeds.values())] for name, seeds in places.items()},
        {name: [records[i] for i in seeds.values()] for name, seeds in places.items()},
    )
