"""Probabilities that mean what they say: temperature, Platt scaling, and another share of positives.

All three are monotone: a pair that was above another stays above it. ``match calibrate`` writes a :class:`Calibration`,
and ``match predict`` applies it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
from scipy.optimize import brentq, minimize
from scipy.special import expit, logit

from fairseq_xl.io.atomic import write_json
from fairseq_xl.io.errors import InputError
from fairseq_xl.io.json_files import opened_json

SUREST = 1e-6
"""Probabilities are clipped to SUREST … 1 − SUREST before they become logits."""

COLDEST, HOTTEST = 0.01, 100.0
"""the range of temperatures"""


def logits(probability: np.ndarray) -> np.ndarray:
    """log p/(1 − p), finite."""
    return logit(np.clip(np.asarray(probability, dtype=np.float64), SUREST, 1 - SUREST))


def apply(logits: np.ndarray, temperature: float, bias: float = 0.0) -> np.ndarray:
    """Probabilities σ(z/T + b), of the shape of ``logits``."""
    return expit(np.asarray(logits, dtype=np.float64) / temperature + bias)


def check_classes(gold: np.ndarray) -> None:
    """Raises: InputError: there are labels of one kind only, from which nothing can be fitted."""
    if len(np.unique(gold)) < 2:
        raise InputError(
            "calibrating and stacking need pairs that match and pairs that do not: fit on a larger set, or in "
            "fewer folds"
        )


def fit_temperature(logits: np.ndarray, gold: np.ndarray) -> float:
    """The temperature T that minimises the log loss of σ(z/T) (Guo et al. 2017, section 4.2).

    The loss is convex in 1/T, so the zero of its slope is the minimum. The logits may separate the labels, or order
    them the wrong way round. The loss then falls all the way, and T is the end of the range.

    Args:
        logits: (N,) of label 1.
        gold: (N,) labels 0 and 1.

    Raises:
        InputError: there are labels of one kind only.
    """
    logits, gold = np.asarray(logits, dtype=np.float64), np.asarray(gold)
    check_classes(gold)

    def slope(scale: float) -> float:
        return float(np.mean((expit(scale * logits) - gold) * logits))

    coldest, hottest = slope(1 / COLDEST), slope(1 / HOTTEST)
    if coldest == hottest:  # every logit is 0
        return 1.0
    if coldest <= 0:
        return COLDEST
    if hottest >= 0:
        return HOTTEST
    return 1 / brentq(slope, 1 / HOTTEST, 1 / COLDEST, xtol=1e-12)


def fit_platt(logits: np.ndarray, gold: np.ndarray) -> tuple[float, float]:
    """Temperature and bias of σ(z/T + b) (Platt 1999), by log loss against his smoothed labels.

    (N₊ + 1)/(N₊ + 2) stands for 1 and 1/(N₋ + 2) for 0, which keeps the bias finite. T stays in its range, which keeps
    the order of the pairs.

    Args:
        logits: (N,) of label 1.
        gold: (N,) labels 0 and 1.

    Raises:
        InputError: there are labels of one kind only.
    """
    logits, gold = np.asarray(logits, dtype=np.float64), np.asarray(gold)
    check_classes(gold)
    positive = int(gold.sum())
    target = np.where(gold == 1, (positive + 1) / (positive + 2), 1 / (len(gold) - positive + 2))

    def loss(parameters: np.ndarray) -> tuple[float, np.ndarray]:
        z = parameters[0] * logits + parameters[1]
        slope = expit(z) - target
        return float(np.mean(np.logaddexp(0, z) - target * z)), np.array([np.mean(slope * logits), np.mean(slope)])

    found = minimize(
        loss,
        [1.0, 0.0],
        jac=True,
        method="L-BFGS-B",
        bounds=[(1 / HOTTEST, 1 / COLDEST), (None, None)],
        options={"ftol": 1e-15, "gtol": 1e-10},
    )
    scale, bias = found.x.tolist()
    return 1 / scale, bias


CALIBRATIONS: dict[str, Callable[[np.ndarray, np.ndarray], tuple[float, float]]] = {
    "temperature": lambda logits, gold: (fit_temperature(logits, gold), 0.0),
    "platt": fit_platt,
}
"""By name: from (N,) logits and (N,) labels to the temperature and the bias for :func:`apply`."""


def shift_prior(probability: np.ndarray, training_prior: float, prior: float) -> np.ndarray:
    """Probabilities for a set with another share of positives (Saerens, Latinne & Decaestecker 2002, equation 4).

    The result is right if the two sets differ in that share alone.

    Args:
        probability: (N,) of label 1, calibrated for ``training_prior``.
        training_prior, prior: shares of label 1, strictly between 0 and 1, where learned and where used.

    Raises:
        ValueError: a share is not between 0 and 1.
    """
    for share in (training_prior, prior):
        if not 0 < share < 1:
            raise ValueError(f"a share of positives lies between 0 and 1, which {share} does not")
    probability = np.asarray(probability, dtype=np.float64)
    yes = probability * prior / training_prior
    return yes / (yes + (1 - probability) * (1 - prior) / (1 - training_prior))


def estimate_prior(probability: np.ndarray, training_prior: float) -> float:
    """The share of positives of an unlabelled set, from its probabilities (Saerens et al. 2002, section 2.2).

    Their EM climbs the likelihood of the share, which is concave: the zero of its slope is where EM ends.

    Args:
        probability: (N,) of label 1, calibrated for ``training_prior``.
        training_prior: share of label 1 where it was learned, strictly between 0 and 1.

    Returns:
        a share of 1/(N + 1) to N/(N + 1). N pairs cannot tell a smaller share from 0.

    Raises:
        ValueError: such a share does not exist.
    """
    if not 0 < training_prior < 1:
        raise ValueError(f"a share of positives lies between 0 and 1, which {training_prior} does not")
    probability = np.asarray(probability, dtype=np.float64)
    yes, no = probability / training_prior, (1 - probability) / (1 - training_prior)

    def slope(share: float) -> float:
        return float(np.mean((yes - no) / (share * yes + (1 - share) * no)))

    if (yes == no).all():  # nothing is said of any pair
        return training_prior
    least = 1 / (len(probability) + 1)
    if slope(least) <= 0:
        return least
    if slope(1 - least) >= 0:
        return 1 - least
    return brentq(slope, least, 1 - least, xtol=1e-12)


@dataclass(frozen=True)
class Calibration:
    """From logits to probabilities one can bet on.

    Attributes:
        temperature, bias: probability = sigmoid(logit / temperature + bias).
        development_prior: share of matching pairs where these were fitted.
        prior: share where they are applied. None means the same.
    """

    temperature: float
    bias: float
    development_prior: float
    prior: float | None


def write_calibration(path: Path, found: Calibration) -> None:
    write_json(path, asdict(found), indent=1)


def read_calibration(path: Path) -> Calibration:
    """Raises: InputError: the file is missing, or holds something else."""
    with opened_json(path, "calibration", "make it again", "`fairseq-xl match calibrate` makes one") as entries:
        found = Calibration(**entries)
    known = [found.temperature, found.bias, found.development_prior, *([] if found.prior is None else [found.prior])]
    if not all(type(number) in (int, float) and abs(number) < 1e300 for number in known):
        raise InputError(f"{path} is no calibration (it holds something else than numbers): make it again")
    if not all(0 < share < 1 for share in known[2:]):
        raise InputError(f"{path} is no calibration (a share of positives is not between 0 and 1): make it again")
    if not found.temperature > 0:
        raise InputError(f"{path}: the temperature is {found.temperature}, which no calibration has: make it again")
    return found


def calibrated(logits: np.ndarray, found: Calibration) -> np.ndarray:
    """(N,) probabilities of logits (N,)."""
    probability = apply(logits, found.temperature, found.bias)
    if found.prior is None:
        return probability
    return shift_prior(probability, found.development_prior, found.prior)
