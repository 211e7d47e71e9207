"""A baseline that learns from a data directory, and the record of what it says of other pairs there."""

from __future__ import annotations

import time
from collections.abc import Sequence
from importlib import metadata

from fairseq_xl.io.errors import InputError
from fairseq_xl.pairs.baselines import BASELINES
from fairseq_xl.pairs.baselines.features import Training
from fairseq_xl.pairs.baselines.learners import fit
from fairseq_xl.pairs.baselines.settings import Settings
from fairseq_xl.pairs.data.directory import DataDirectory, Row
from fairseq_xl.pairs.evaluation.record import PairRecord
from fairseq_xl.vectors.table import WordVectors, read_vectors


def judge(settings: Settings) -> PairRecord:
    """Train the baseline and let it judge.

    Args:
        settings: after their ``check``.

    Raises:
        InputError: an unusable folder, or what the baseline needs and has not.
    """
    split, train, judged = _pairs(settings)
    began = time.perf_counter()
    table = _vectors(settings, [*train, *judged])
    classify = fit(settings.baseline, Training(train, table, settings.model), settings.seed, settings.learner)
    trained = time.perf_counter()
    probability = classify(judged)
    done = time.perf_counter()
    about = {
        "classifier": settings.baseline,
        "learner": settings.learner or BASELINES[settings.baseline],
        "model": settings.model,
        "fold": settings.fold,
        "training_pairs": len(train),
        "training_seconds": trained - began,
        "pairs_per_second": len(judged) / (done - trained),
        "versions": {package: metadata.version(package) for package in ("numpy", "scikit-learn")},
    }
    return PairRecord.of_rows(settings.name or settings.baseline, split, settings.seed, judged, probability, about)


def _pairs(settings: Settings) -> tuple[str, list[Row], list[Row]]:
    """What is judged, by its name in records; the pairs to learn from; those to judge."""
    directory = DataDirectory(settings.data)
    if settings.fold is None:
        split = settings.split or "valid"
        train, judged, place = directory.training(), directory.rows(split), f"its split {split}"
    else:
        split = place = f"fold {settings.fold}"
        train, judged = (directory.fold(settings.fold, held_out) for held_out in (False, True))
    if not judged:
        raise InputError(f"{settings.data} has no pair in {place}: prepare it with more")
    return split, train, judged


def _vectors(settings: Settings, rows: Sequence[Row]) -> WordVectors | None:
    """Those of the pairs' words, where the settings name a file."""
    if settings.vectors is None:
        return None
    words = {word for row in rows for text in (row.left, row.right) for word in text.split()}
    return read_vectors(settings.vectors, words, progress=False)
