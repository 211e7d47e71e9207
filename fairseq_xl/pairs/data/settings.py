"""How pairs become a data directory: what ``fairseq-xl match prepare`` can be told."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from fairseq_xl.io.settings import GREATEST_SEED, option
from fairseq_xl.pairs.data.tokenizer import Tokenizer


@dataclass(kw_only=True)
class Settings(Tokenizer):
    """Words, vocabulary, vectors, folds, and what training may not see."""

    vectors: Path | None = option(
        "word vectors (.vec, .bin with subwords, .npy); without, random ones to be trained with --tune-vectors",
        None,
        metavar="FILE",
    )
    dim: int = option("of random vectors", 300, low=1, high=65_536)
    like: Path | None = option(
        "take words, dictionary and vectors from this data directory, so that a model trained there can be tuned or "
        "used here (give these files to --also there, or their new words are unknown)",
        None,
        metavar="DIR",
    )
    minimum: int = option("a word without a vector seen less often in training is unknown", 1, low=1, metavar="N")
    folds: int = option("of the training pairs for cross-validation; 1: none", 1, low=1, high=1000, metavar="N")
    together: str = option(
        "what no fold may separate: connected components of sentences (no pair is lost, but one component may hold "
        "nearly all), communities (few pairs lie across folds), single sentences (many do)",
        "communities",
        choices=("components", "communities", "sentences"),
    )
    chains: bool = option(
        "train on pairs that match through a chain of two as well: A as B, B as C, so A as C. A chain is left out "
        "where one of its three sentences is in the fold held out, and no fold is judged on chains",
        False,
    )
    leaks: str = option(
        "leave training pairs out that share a sentence with a pair of the splits valid or test, or are equal to one",
        "sentences",
        choices=("sentences", "pairs", "nothing"),
    )
    seed: int = option("of folds and random vectors", 1, low=0, high=GREATEST_SEED)
