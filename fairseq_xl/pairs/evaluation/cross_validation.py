"""What cross-validation says, and its models together: accuracies, and votes on other pairs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
from scipy.stats import ttest_1samp

from fairseq_xl.io.errors import InputError
from fairseq_xl.pairs.evaluation.record import PairRecord, together
from fairseq_xl.report.scores import spread
from fairseq_xl.report.tables import Table


def _told(record: PairRecord) -> tuple[object, ...]:
    """What tells a model's record from those of others; one that knows no question says the same in every fold."""
    return record.name, record.seed, record.about.get("fold"), record.probability


def table(folds: Sequence[PairRecord], test: Sequence[PairRecord], against: str | None = None) -> Table:
    """A row a classifier.

    Args:
        folds: one of each classifier, split and seed.
        test: of each classifier's models, in the order of its folds, on one split.
        against: a classifier whose accuracies are subtracted from the others'.

    Raises:
        InputError: records twice, models in another order than their folds, an unknown ``against``.
    """
    by_name: dict[str, dict[tuple[str, int], tuple[float, int]]] = {}
    for record in folds:
        own = by_name.setdefault(record.name, {})
        if (record.split, record.seed) in own:
            raise InputError(f"two records are of {record.name} on {record.split}: give each fold once")
        own[record.split, record.seed] = accuracy(record), len(record.ids)
    for run, record in enumerate(test):
        if any(_told(record) == _told(other) for other in test[:run]):
            raise InputError(f"two --test records of {record.name} say the same: give each fold's model once")
    for name, own in by_name.items():
        models = [record.about.get("fold") for record in test if record.name == name]
        given = [f"fold {fold}" for fold in models]
        if len(models) == len(own) and None not in models and given != [split for split, _ in own]:
            raise InputError(f"--test has models of {name} in another order than its folds: {', '.join(given)}")
    if against is not None and against not in by_name:
        raise InputError(f"--against {against!r} is none of {', '.join(by_name)}")
    # The folds' models are all of one seed, by which records are told apart: each counts as a run of its own.
    judged = together([replace(record, seed=run) for run, record in enumerate(test)]) if test else None
    found = Table(
        "Cross-validation: accuracy in %",
        [
            "classifier",
            "folds",
            "mean ± sd",
            "all pairs",
            *(["test, mean ± sd", "best fold's model", "max voting", "average voting"] if test else []),
            *([f"difference from {against}", "p (paired t-test)"] if against is not None else []),
        ],
    )
    for name, own in by_name.items():
        rates, sizes = zip(*own.values(), strict=True)
        cells = [name, str(len(own)), _per_cent(rates), f"{100 * np.average(rates, weights=sizes):.2f}"]
        if judged is not None:
            if name not in judged.runs:
                raise InputError(f"no --test record is of {name}: predict the split test with its models, too")
            right = judged.runs[name] >= 0.5, judged.labels == 1
            singly = [float((run == right[1]).mean()) for run in right[0]]
            best = f"{100 * singly[int(np.argmax(rates))]:.2f}" if len(singly) == len(rates) else "–"
            cells += [_per_cent(singly), best]
            # A tie of an even number of models counts as a match, as a probability of one half does.
            voted, mean = right[0].mean(0) >= 0.5, judged.runs[name].mean(0) >= 0.5
            cells += [f"{100 * (said == right[1]).mean():.2f}" for said in (voted, mean)]
        if against is not None:
            cells += ["–", "–"] if name == against else _difference(own, by_name[against])
        found.add(*cells)
    return found


def _per_cent(rates: Sequence[float]) -> str:
    return spread([100 * rate for rate in rates], 2)


def _difference(
    own: Mapping[tuple[str, int], tuple[float, int]], other: Mapping[tuple[str, int], tuple[float, int]]
) -> list[str]:
    """The mean difference of accuracies, in points, and its p value over folds; over seeds where there is one fold.

    The number of folds stands beside it where one of the two has more than they share.
    """
    mine, theirs = _by_fold(own), _by_fold(other)
    shared = [fold for fold in mine if fold in theirs]
    if len(shared) > 1:
        # The seeds of a fold are judged on the same pairs, so they are not independent and count as one difference.
        rates = [[float(np.mean(list(side[fold].values()))) for fold in shared] for side in (mine, theirs)]
    elif shared:
        (fold,) = shared
        seeds = [seed for seed in mine[fold] if seed in theirs[fold]]
        rates = [[side[fold][seed] for seed in seeds] for side in (mine, theirs)]
    if not shared or not rates[0]:
        return ["–", "–"]
    differences = np.array(rates[0]) - np.array(rates[1])
    mean = f"{100 * differences.mean():+.2f}"
    if len(shared) < max(len(mine), len(theirs)):
        mean += f" ({len(shared)} folds)" if len(shared) > 1 else f" ({shared[0]})"
    return [mean, f"{ttest_1samp(differences, 0).pvalue:.3f}" if len(differences) > 1 and differences.std() else "–"]


def _by_fold(rates: Mapping[tuple[str, int], tuple[float, int]]) -> dict[str, dict[int, float]]:
    """Accuracies by fold and seed."""
    found: dict[str, dict[int, float]] = {}
    for (fold, seed), (rate, _) in rates.items():
        found.setdefault(fold, {})[seed] = rate
    return found


def accuracy(record: PairRecord) -> float:
    """The share of pairs that a probability of one half decides rightly. Raises: InputError: no labels."""
    if record.gold is None:
        raise InputError(f"the record of {record.name} on {record.split} has no labels")
    return float(((np.asarray(record.probability) >= 0.5) == np.asarray(record.gold)).mean())
