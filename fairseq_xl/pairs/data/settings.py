"""How pairs become a data directory: the settings of ``fairseq-xl match prepare``."""

from __future__ import annotations

from dataclasses import dataclass, fields
from pathlib import Path

from fairseq_xl.io.settings import GREATEST_SEED, option, refuse_given
from fairseq_xl.pairs.data.tokenizer import Tokenizer


@dataclass(kw_only=True)
class Settings(Tokenizer):
    """Words, vocabulary, vectors, folds, and what training may not see."""

    vectors: Path | None = option(
        "word vectors (.vec, .bin with subwords, .npy). Without, vectors are random: train them with --tune-vectors",
        None,
        metavar="FILE",
    )
    dim: int = option("dimension of random vectors", 300, low=1, high=65_536)
    like: Path | None = option(
        "take words, dictionary and vectors from this data directory, so that a model trained there can be tuned or "
        "used here. Give these files to --also there, or their new words are unknown",
        None,
        metavar="DIR",
    )
    min_count: int = option("a word without a vector seen less often in training is unknown", 1, low=1, metavar="N")
    folds: int = option("folds of the training pairs for cross-validation; 1: none", 1, low=1, high=1000, metavar="N")
    together: str = option(
        "what no fold may separate. Choose components (connected ones) to lose no pair, but one may hold nearly all "
        "sentences. With communities few pairs lie across folds, and with single sentences many do",
        "communities",
        choices=("components", "communities", "sentences"),
    )
    chains: bool = option(
        "train on pairs that match through a chain of two as well: A matches B and B matches C, so A matches C. A "
        "chain is left out where one of its three sentences is in the fold held out. No fold is judged on chains",
        False,
    )
    leaks: str = option(
        "leave training pairs out that share a sentence with a pair of the splits valid or test, or are equal to one",
        "sentences",
        choices=("sentences", "pairs", "nothing"),
    )
    seed: int = option("of folds and random vectors", 1, low=0, high=GREATEST_SEED)

    def check(self) -> None:
        """Raises: InputError: options without effect beside others."""
        if self.like:
            own = ["vectors", "dim", "min_count", *(each.name for each in fields(Tokenizer))]
            refuse_given(self, own, "has no effect beside --like, which brings words, dictionary and vectors")
        if self.folds == 1:
            refuse_given(self, ["together"], "says how folds are made, and --folds makes none")
        if self.vectors:
            refuse_given(self, ["dim"], "is for random vectors, and --vectors names a file")
