"""``fairseq-xl classify baseline``: train a baseline on a data directory and record its predictions."""

from __future__ import annotations

import sys
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from fairseq_xl.io.atomic import atomic_text
from fairseq_xl.io.errors import InputError
from fairseq_xl.io.settings import GREATEST_SEED, argument, option, refuse_unread
from fairseq_xl.siamese.baselines import BASELINES


@dataclass(kw_only=True)
class Baseline:
    """Train another classifier on the low-resource language's labels, or on those of both, and write a record of its
    predictions."""

    baseline: str = argument(
        "asv, mv-rnn, dsc-t, mnb-h, bilstm-w, bilstm-c (the paper's), svm, fasttext, st (newer)",
        choices=tuple(BASELINES),
        metavar="NAME",
    )
    data: Path = argument("data directory")
    output: Path = option("record to write", alias="-o", metavar="FILE")
    split: str = option("what to classify", "test", choices=("valid", "test"))
    seed: int = option("seed of the training", 1, low=0, high=GREATEST_SEED)
    with_high_resource: bool = option(
        "learn from the high-resource language's training text as well. The data directory has it as it is, "
        "translated word for word, or with shuffled labels",
        False,
    )
    more_text: Path | None = option(
        "unlabelled sentences of the language for the word vectors of asv and dsc-t, which were designed for millions "
        "of sentences",
        None,
        metavar="FILE",
    )
    model: str | None = option("name or folder of a sentence-transformers model, for st", None, metavar="NAME")
    parses: Path | None = option(
        "bracketed trees of the training, development and test texts, one a line, for mv-rnn", None, metavar="FILE"
    )

    def run(self) -> None:
        """Train, classify and write the record.

        Raises:
            InputError: the data cannot be used, or something that the baseline needs is missing.
        """
        import numpy as np

        import fairseq_xl

        fairseq_xl.register()
        from fairseq_xl.io.lines import read_lines
        from fairseq_xl.siamese.baselines import Training, fit
        from fairseq_xl.siamese.data.directory import DataDirectory
        from fairseq_xl.siamese.evaluation import records

        if self.with_high_resource and self.baseline == "mv-rnn":
            raise InputError("mv-rnn has parses of one language: leave out --with-high-resource")
        if self.baseline == "mv-rnn" and self.split != "test":
            raise InputError("mv-rnn classifies the test split alone")
        refuse_unread(self, self.baseline, {"more_text": ("asv", "dsc-t"), "model": ("st",), "parses": ("mv-rnn",)})
        with atomic_text(self.output) as stream:
            directory = DataDirectory(self.data)
            train, valid, tested = (directory.corpus(split, "low") for split in ("train", "valid", self.split))
            texts, labels, high_count = list(train.texts), train.labels, 0
            if self.with_high_resource:
                high = directory.corpus("train", "high")
                texts, labels, high_count = texts + list(high.texts), np.concatenate([labels, high.labels]), len(high)
            data = Training(
                texts,
                labels,
                valid.texts,
                valid.labels,
                len(directory.classes),
                self.seed,
                [directory.clean(line) for line in read_lines(self.more_text)] if self.more_text else [],
                self.model,
                self.parses,
                tested.texts,
            )
            began = time.perf_counter()
            classify = fit(self.baseline, data)
            trained = time.perf_counter()
            predicted = [int(label) for label in classify(tested.texts)]
            done = time.perf_counter()
            name = BASELINES[self.baseline][1] + (", more text" if self.more_text else "")
            name += _high_name(directory.manifest) if self.with_high_resource else ""
            record = records.make(
                f"{name}: {Path(self.model).name}" if self.baseline == "st" and self.model else name,
                directory,
                self.split,
                tested.labels.tolist(),
                predicted,
                seed=self.seed,
                training_sentences={"low": len(train)} | ({"high": high_count} if high_count else {}),
                training_seconds=trained - began,
                sentences_per_second=len(predicted) / (done - trained),
            )
            records.write(record, stream)
        print(f"{name}: macro-F1 {100 * record['macro_f1']:.1f}", file=sys.stderr)


def _high_name(manifest: Mapping[str, Any]) -> str:
    """What a record's name says of the high-resource labels."""
    words = {"none": "", "translated": ", lexicon", "shuffled": ", shuffled lexicon"}[manifest.get("lexicon", "none")]
    labels = ", labels shuffled" if manifest["high_resource_labels_shuffled"] else ""
    return f", with {manifest['languages']['high']}{words}{labels}"
