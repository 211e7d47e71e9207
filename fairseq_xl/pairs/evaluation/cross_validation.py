"""What cross-validation says, and its models together: accuracies, and votes on other pairs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from fairseq_xl.io.errors import InputError
from fairseq_xl.pairs.evaluation.record import PairRecord, together
from fairseq_xl.report.tables import Table


def table(folds: Sequence[PairRecord], test: Sequence[PairRecord]) -> Table:
    """A row a classifier."""
    by_name: dict[str, dict[str, tuple[float, int]]] = {}
    for record in folds:
        own = by_name.setdefault(record.name, {})
        if record.split in own:
            raise InputError(f"two records are of {record.name} on {record.split}: give each fold once")
        own[record.split] = accuracy(record), len(record.ids)
    for run, record in enumerate(test):
        if any((record.name, record.probability) == (other.name, other.probability) for other in test[:run]):
            raise InputError(f"two --test records of {record.name} say the same: give each fold's model once")
    # The folds' models are all of one seed, by which records are told apart: each counts as a run of its own.
    judged = together([replace(record, seed=run) for run, record in enumerate(test)]) if test else None
    found = Table(
        "Cross-validation: accuracy in %",
        [
            "classifier",
            "folds",
            "mean ± sd",
            "all pairs",
            *(["test, mean ± sd", "max voting", "average voting"] if test else []),
        ],
    )
    for name, own in by_name.items():
        rates, sizes = zip(*own.values(), strict=True)
        cells = [name, str(len(own)), _spread(rates), f"{100 * np.average(rates, weights=sizes):.2f}"]
        if judged is not None:
            if name not in judged.runs:
                raise InputError(f"no --test record is of {name}: predict the split test with its models, too")
            right = judged.runs[name] >= 0.5, judged.labels == 1
            cells.append(_spread([float((run == right[1]).mean()) for run in right[0]]))
            # A tie of an even number of models counts as a match, as a probability of one half does.
            voted, mean = right[0].mean(0) >= 0.5, judged.runs[name].mean(0) >= 0.5
            cells += [f"{100 * (said == right[1]).mean():.2f}" for said in (voted, mean)]
        found.add(*cells)
    return found


def accuracy(record: PairRecord) -> float:
    """The share of pairs that a probability of one half decides rightly. Raises: InputError: no labels."""
    if record.gold is None:
        raise InputError(f"the record of {record.name} on {record.split} has no labels")
    return float(((np.asarray(record.probability) >= 0.5) == np.asarray(record.gold)).mean())


def _spread(values: Sequence[float]) -> str:
    mean = f"{100 * np.mean(values):.2f}"
    return mean if len(values) < 2 else f"{mean} ± {100 * np.std(values, ddof=1):.2f}"
