"""A calibration as a file: what ``pairs calibrate`` writes and ``pairs predict`` applies."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np

from fairseq_xl.io.atomic import atomic_text
from fairseq_xl.io.errors import InputError
from fairseq_xl.io.json_text import loads
from fairseq_xl.pairs.prediction import calibration


@dataclass(frozen=True)
class Calibration:
    """From logits to probabilities one can bet on.

    Attributes:
        temperature, bias: probability = sigmoid(logit / temperature + bias).
        development_prior: share of matching pairs where these were fitted.
        prior: share where they are applied; None: the same.
    """

    temperature: float
    bias: float
    development_prior: float
    prior: float | None


def write_calibration(path: Path, found: Calibration) -> None:
    with atomic_text(path) as stream:
        json.dump(asdict(found), stream, indent=1)
        stream.write("\n")


def read_calibration(path: Path) -> Calibration:
    """Raises: InputError: no such file, or one that holds something else."""
    try:
        found = Calibration(**loads(path.read_text(encoding="utf-8")))
    except FileNotFoundError:
        raise InputError(f"there is no calibration {path}: `fairseq-xl match calibrate` makes one") from None
    except (ValueError, TypeError) as error:
        raise InputError(f"{path} is no calibration ({error}): make it again") from None
    if not found.temperature > 0:
        raise InputError(f"{path}: the temperature is {found.temperature}, which no calibration has: make it again")
    return found


def calibrated(logits: np.ndarray, found: Calibration) -> np.ndarray:
    """(N,) probabilities of logits (N,)."""
    probability = calibration.apply(logits, found.temperature, found.bias)
    if found.prior is None:
        return probability
    return calibration.shift_prior(probability, found.development_prior, found.prior)
