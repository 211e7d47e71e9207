"""A baseline that learns from a data directory, and the record of the classes that it gives a split there."""

from __future__ import annotations

import time
from pathlib import Path

import numpy as np

from fairseq_xl.io.lines import read_lines
from fairseq_xl.siamese.baselines import BASELINES, Training, fit
from fairseq_xl.siamese.baselines.settings import Settings
from fairseq_xl.siamese.data.directory import DataDirectory
from fairseq_xl.siamese.evaluation import records

LEXICONS = {"none": "", "translated": ", lexicon", "shuffled": ", shuffled lexicon"}
"""What a name says of the lexicon that the high-resource text went through."""


def classify(settings: Settings) -> records.Record:
    """Train the baseline and let it classify.

    Args:
        settings: after their ``check``.

    Raises:
        InputError: the data cannot be used, or something that the baseline needs is missing.
    """
    directory = DataDirectory(settings.data)
    train, valid, tested = (directory.corpus(split, "low") for split in ("train", "valid", settings.split))
    texts, labels, sizes = list(train.texts), train.labels, {"low": len(train)}
    if settings.with_high_resource:
        high = directory.corpus("train", "high")
        texts, labels = texts + list(high.texts), np.concatenate([labels, high.labels])
        sizes["high"] = len(high)
    data = Training(
        texts,
        labels,
        valid.texts,
        valid.labels,
        len(directory.classes),
        settings.seed,
        [directory.clean(line) for line in read_lines(settings.more_text)] if settings.more_text else [],
        settings.model,
        settings.parses,
        tested.texts,
    )
    began = time.perf_counter()
    baseline = fit(settings.baseline, data)
    trained = time.perf_counter()
    predicted = [int(label) for label in baseline(tested.texts)]
    done = time.perf_counter()
    return records.make(
        _name(settings, directory),
        directory,
        settings.split,
        tested.labels.tolist(),
        predicted,
        seed=settings.seed,
        training_sentences=sizes,
        training_seconds=trained - began,
        sentences_per_second=len(predicted) / (done - trained),
    )


def _name(settings: Settings, directory: DataDirectory) -> str:
    """What reports call the baseline and what it learnt from."""
    name = BASELINES[settings.baseline][1]
    if settings.more_text:
        name += ", more text"
    if settings.with_high_resource:
        manifest = directory.manifest
        name += f", with {manifest['languages']['high']}"
        name += LEXICONS[manifest.get("lexicon", "none")]
        name += ", labels shuffled" if manifest["high_resource_labels_shuffled"] else ""
    return f"{name}: {Path(settings.model).name}" if settings.model else name
