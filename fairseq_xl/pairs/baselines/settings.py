"""Which baseline is trained on what, and what it judges."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from fairseq_xl.io.errors import InputError
from fairseq_xl.io.settings import GREATEST_SEED, argument, option, refuse_unread
from fairseq_xl.pairs.baselines import BASELINES


@dataclass(kw_only=True)
class Settings:
    """A baseline, and the pairs that it learns from and judges."""

    baseline: str = argument(
        "character_ngram (the paper's), tfidf, bm25, vectors (averaged word vectors), st (sentence-transformers), "
        "shallow (lengths, shared words, punctuation), constant (the training pairs' share of matches)",
        choices=tuple(BASELINES),
        metavar="NAME",
    )
    data: Path = argument("data directory, on whose split train it learns")
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

    def check(self) -> None:
        """Raises: InputError: options that exclude each other, or that the baseline does not read."""
        if self.fold is not None and self.split:
            raise InputError("--fold judges training pairs: leave --split out")
        if self.learner and self.baseline == "constant":
            raise InputError("constant learns nothing but a share: leave --learner out")
        refuse_unread(self, self.baseline, {"vectors": ("vectors",), "model": ("st",)})
