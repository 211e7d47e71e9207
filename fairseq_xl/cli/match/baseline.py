"""``fairseq-xl match baseline``: train a baseline without a network on a data directory and record what it says."""

from __future__ import annotations

import sys
import time
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path

from fairseq_xl.io.errors import InputError
from fairseq_xl.io.settings import GREATEST_SEED, argument, option, refuse_unread

NAMES = ("character_ngram", "tfidf", "bm25", "vectors", "st", "shallow", "constant")


@dataclass(kw_only=True)
class Baseline:
    """Train a baseline without a network on the training pairs, and record the probabilities of other pairs."""

    baseline: str = argument(
        "character_ngram (the paper's), tfidf, bm25, vectors (averaged word vectors), st (sentence-transformers), "
        "shallow (lengths, shared words, punctuation), constant (the training pairs' share of matches)",
        choices=NAMES,
        metavar="NAME",
    )
    data: Path = argument("data directory, on whose split train it learns")
    output: Path = option("record to write", alias="-o", metavar="FILE")
    split: str | None = option("what to judge", None, choices=("valid", "test"), shown="valid")
    fold: int | None = option(
        "judge fold K of the training pairs, from 0, and learn from the rest. Stacking is fitted on such records",
        None,
        metavar="K",
    )
    seed: int = option("seed of the training", 1, low=0, high=GREATEST_SEED)
    learner: str | None = option(
        "gradient boosting or logistic regression",
        None,
        choices=("boosting", "logistic"),
        shown="boosting for character_ngram and shallow, logistic for others",
    )
    vectors: Path | None = option("file of word vectors, for vectors", None, metavar="FILE")
    model: str | None = option("name or folder of a sentence-transformers model, for st", None, metavar="NAME")
    name: str | None = option("in tables", None, shown="the baseline's")

    def run(self) -> None:
        """Train, judge and write the record.

        Raises:
            InputError: an unusable folder, or what a baseline needs and has not.
        """
        from fairseq_xl.pairs.baselines import BASELINES, Training, fit
        from fairseq_xl.pairs.data.directory import DataDirectory
        from fairseq_xl.pairs.evaluation.record import PairRecord
        from fairseq_xl.pairs.evaluation.scores import log_losses
        from fairseq_xl.vectors.table import read_vectors

        if self.fold is not None and self.split:
            raise InputError("--fold judges training pairs: leave --split out")
        if self.learner and self.baseline == "constant":
            raise InputError("constant learns nothing but a share: leave --learner out")
        refuse_unread(self, self.baseline, {"vectors": ("vectors",), "model": ("st",)})
        directory = DataDirectory(self.data)
        if self.fold is None:
            split = self.split or "valid"
            train, judged = directory.training(), directory.rows(split)
        else:
            split = f"fold {self.fold}"
            train, judged = (directory.fold(self.fold, held_out) for held_out in (False, True))
        if not judged:
            place = f"its split {split}" if self.fold is None else f"fold {self.fold}"
            raise InputError(f"{self.data} has no pair in {place}: prepare it with more")
        began = time.perf_counter()
        table = None
        if self.vectors:
            words = {word for row in (*train, *judged) for text in (row.left, row.right) for word in text.split()}
            table = read_vectors(self.vectors, words, progress=False)
        judge = fit(self.baseline, Training(train, table, self.model), self.seed, self.learner)
        trained = time.perf_counter()
        probability = judge(judged)
        done = time.perf_counter()
        about = {
            "classifier": self.baseline,
            "learner": self.learner or BASELINES[self.baseline][1],
            "model": self.model,
            "fold": self.fold,
            "training_pairs": len(train),
            "training_seconds": trained - began,
            "pairs_per_second": len(judged) / (done - trained),
            "versions": {package: metadata.version(package) for package in ("numpy", "scikit-learn")},
        }
        record = PairRecord.of_rows(self.name or self.baseline, split, self.seed, judged, probability, about)
        record.write(self.output)
        if record.gold is not None:
            print(f"{record.name}: log loss {log_losses(record.gold, probability).mean():.4f}", file=sys.stderr)
