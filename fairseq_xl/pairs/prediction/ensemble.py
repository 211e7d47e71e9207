"""Several pair classifiers as one: means, and stacking by a logistic regression on pairs new to all of them.

Everything here takes (N, M) probabilities of N pairs by M pair classifiers, or the logits of these.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from fairseq_xl.io.errors import InputError
from fairseq_xl.io.packages import require
from fairseq_xl.pairs.evaluation.record import ClassifierRuns, PairRecord, together
from fairseq_xl.pairs.prediction.calibration import CALIBRATIONS, apply, check_classes, logits

PRESETS = {
    "phase1": ("esim", "siamese_conv_lstm", "siamese_conv_lstm_bilstm", "decomposable_attention"),
    "phase2": ("esim", "siamese_conv", "siamese_conv_lstm_bilstm", "decomposable_attention"),
}
"""Pair classifiers of the two submissions of Hadgu 2018 (section 4)."""

Combiner = Callable[[np.ndarray], np.ndarray]
"""From (N, M) probabilities to (N,)."""

Fit = Callable[[np.ndarray, np.ndarray], Callable[[np.ndarray], np.ndarray]]
"""From inputs (N, …) and labels (N,) to a function from inputs to probabilities (N,)."""


def mean_probability(probability: np.ndarray) -> np.ndarray:
    """(N,) arithmetic means."""
    return probability.mean(1)


def mean_logit(probability: np.ndarray) -> np.ndarray:
    """(N,) probabilities of the mean logits. A sure classifier counts for more than in the mean of probabilities."""
    return apply(logits(probability).mean(1), 1.0)


@dataclass(frozen=True)
class Stack:
    """Logistic regression on the pair classifiers' logits (Wolpert 1992): weights (M,) and a bias."""

    weights: np.ndarray
    bias: float

    def __call__(self, probability: np.ndarray) -> np.ndarray:
        return apply(logits(probability) @ self.weights, 1.0, self.bias)


def fit_stack(probability: np.ndarray, gold: np.ndarray) -> Stack:
    """Weights by log loss, with scikit-learn's usual L2 penalty.

    Args:
        probability: (N, M), of pairs that no classifier has learned from.
        gold: (N,) labels 0 and 1.

    Raises:
        InputError: there are labels of one kind only, or scikit-learn is missing.
    """
    check_classes(gold)
    regression = require("sklearn.linear_model", "pairs").LogisticRegression
    model = regression(max_iter=1000).fit(logits(probability), gold)
    return Stack(model.coef_[0], float(model.intercept_[0]))


MEANS: dict[str, Combiner] = {"probability": mean_probability, "logit": mean_logit}


def fit_combiner(probability: np.ndarray, gold: np.ndarray, rule: str, calibrated: str | None = None) -> Combiner:
    """A rule, fitted if it has anything to fit, with a calibration of its probabilities.

    Args:
        probability: (N, M)
        gold: (N,)
        rule: probability, logit or stack.
        calibrated: in CALIBRATIONS, or None.
    """
    combine = MEANS[rule] if rule in MEANS else fit_stack(probability, gold)
    if calibrated is None:
        return combine
    calibrate = calibration(calibrated)(logits(combine(probability)), gold)
    return lambda new: calibrate(logits(combine(new)))


def cross_fit(
    fit: Fit, inputs: np.ndarray, gold: np.ndarray, group: np.ndarray, folds: int, seed: int = 1
) -> np.ndarray:
    """(N,) probabilities, each from the folds that the pair's group is not in, fitted by ``fit``.

    Folds hold whole groups and about equal shares of positives (scikit-learn's StratifiedGroupKFold).

    Args:
        inputs: (N, …) of each pair.
        gold: (N,) labels 0 and 1.
        group: (N,)
        folds: at least 2.
        seed: of the draw of the folds.

    Raises:
        InputError: There are fewer than two folds, or fewer groups than folds. A label has fewer pairs than folds.
            scikit-learn is missing.
    """
    found = len(np.unique(group))
    if not 2 <= folds <= found:
        raise InputError(f"{folds} folds of {found} groups of pairs: there are 2 folds at least, none of them empty")
    check_classes(gold)
    rarer = min(Counter(gold.tolist()).values())
    if rarer < folds:
        raise InputError(f"{folds} folds need as many pairs of each label, and one has {rarer}: fit in fewer folds")
    model_selection = require("sklearn.model_selection", "pairs")
    splitter = model_selection.StratifiedGroupKFold(folds, shuffle=True, random_state=seed)
    probability = np.empty(len(gold))
    for rest, held_out in splitter.split(inputs, gold, group):
        probability[held_out] = fit(inputs[rest], gold[rest])(inputs[held_out])
    return probability


def calibration(name: str) -> Fit:
    """The fit of a calibration on logits, by its name in CALIBRATIONS."""

    def fit(logits: np.ndarray, gold: np.ndarray) -> Callable[[np.ndarray], np.ndarray]:
        temperature, bias = CALIBRATIONS[name](logits, gold)
        return lambda new: apply(new, temperature, bias)

    return fit


def out_of_fold(records: Sequence[PairRecord], names: Sequence[str]) -> ClassifierRuns:
    """Records of single folds, joined fold by fold and averaged over seeds.

    Args:
        records: of M names; those of one name and seed, or all of one name, are of different pairs.
        names: the M pair classifiers, in the wanted order.

    Raises:
        InputError: A name has no record, or a record has none of the names. A pair is twice in one name and seed. Names
            or seeds cover different pairs. Pairs have no labels.
    """
    by_name: dict[str, list[PairRecord]] = {}
    for record in records:
        by_name.setdefault(record.name, []).append(record)
    if by_name.keys() != set(names):
        raise InputError(
            f"the out-of-fold records are of {_listed(by_name)}, and those to combine are of {_listed(names)}: give "
            "the same pair classifiers"
        )
    joined = [_joined(one) for own in by_name.values() for one in _covers(own)]
    sizes = {record.name: len(record.ids) for record in joined}
    if len({frozenset(record.ids) for record in joined}) > 1:
        counts = ", ".join(f"{name} {size}" for name, size in sizes.items())
        raise InputError(f"the out-of-fold records cover different pairs ({counts}): give every fold of each")
    found = together(joined)
    return replace(found, gold=found.labels, runs={name: found.runs[name] for name in names})


def _covers(records: Sequence[PairRecord]) -> list[list[PairRecord]]:
    """One classifier's records, divided into sets that each cover all pairs.

    The sets are by seed. If each fold was trained with a seed of its own, all records are one set.
    """
    if len({name for record in records for name in record.ids}) == sum(len(r.ids) for r in records):
        return [list(records)]
    by_seed: dict[int, list[PairRecord]] = {}
    for record in records:
        by_seed.setdefault(record.seed, []).append(record)
    return list(by_seed.values())


def _listed(names: Iterable[str]) -> str:
    return ", ".join(dict.fromkeys(names))


def _joined(folds: Sequence[PairRecord]) -> PairRecord:
    first = folds[0]
    gold = [label for fold in folds if fold.gold is not None for label in fold.gold]
    whole = PairRecord(
        first.name,
        first.split,
        first.seed,
        [name for fold in folds for name in fold.ids],
        gold or None,
        [p for fold in folds for p in fold.probability],
        [group for fold in folds for group in fold.group],
    )
    whole.check(f"the out-of-fold records of {first.name}, seed {first.seed}")
    return whole


def of_preset(records: Sequence[PairRecord], preset: str) -> list[PairRecord]:
    """The records of a preset's classifiers. Raises: InputError: one of these has none."""
    names = PRESETS[preset]
    if missing := [name for name in names if name not in {record.name for record in records}]:
        raise InputError(f"--preset {preset} lacks records of {', '.join(missing)}: predict with them too")
    return [record for record in records if record.name in names]


def combine(
    found: ClassifierRuns,
    rule: str,
    calibrated: str | None = None,
    fitted_on: ClassifierRuns | None = None,
    folds: int | None = None,
    seed: int = 1,
) -> np.ndarray:
    """(N,) probabilities of the ensemble.

    The rule and the calibration are fitted on ``fitted_on``, or in ``folds`` of the pairs themselves. With both, the
    rule is fitted on the first and the calibration in the folds.

    The mean of several runs is less sure than one of them. So what is fitted on single runs does not fit their mean.

    Args:
        found: what the classifiers say of N pairs.
        rule: probability, logit or stack.
        calibrated: in CALIBRATIONS, or None. It is not None with both ``fitted_on`` and ``folds``.
        fitted_on: the same classifiers on pairs of which none is among the N.
        folds: see :func:`cross_fit`.
        seed: of the folds.

    Raises:
        InputError: something is fitted on pairs that have no labels, or on means of fewer runs than are combined.
    """
    if fitted_on is not None and folds is None:
        for name, runs in found.runs.items():
            known = len(fitted_on.runs[name])
            if len(runs) != known:
                raise InputError(
                    f"{name} has {len(runs)} runs to combine, and {known} of each pair in the out-of-fold records. "
                    "Combine runs that `match predict --calibration` calibrated one by one, or fit with --cross-fit"
                )
        return fit_combiner(fitted_on.means, fitted_on.labels, rule, calibrated)(found.means)
    if folds is None:
        return MEANS[rule](found.means)
    inputs = found.means
    fit: Fit = partial(fit_combiner, rule=rule, calibrated=calibrated)
    if fitted_on is not None:
        inputs = logits(fit_combiner(fitted_on.means, fitted_on.labels, rule)(found.means))
        fit = calibration(str(calibrated))
    return cross_fit(fit, inputs, found.labels, found.group, folds, seed)
