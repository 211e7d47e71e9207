"""``fairseq-xl vectors train``, ``convert`` and ``random``: files of vectors for models to predict."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING

from fairseq_xl.cli.vectors import DICTIONARY, READABLE, WRITABLE
from fairseq_xl.io.errors import InputError
from fairseq_xl.io.settings import GREATEST_SEED, argument, option, refuse_given
from fairseq_xl.vectors.train import Training
from fairseq_xl.vectors.transform import Transformation

if TYPE_CHECKING:
    from fairseq_xl.vectors.table import WordVectors


@dataclass(frozen=True, kw_only=True)
class Train(Training):
    """Train fastText vectors on tokenised text and write PREFIX.bin, which has a vector for every word, and PREFIX.vec,
    the words of the text. The defaults are fastText's own, but for 300 dimensions."""

    texts: list[Path] = argument("plain UTF-8 text, one sentence per line, tokens separated by spaces")
    output: Path = option("write PREFIX.bin and PREFIX.vec", alias="-o", metavar="PREFIX")
    quiet: bool = option("show no progress", False)

    def run(self) -> None:
        from fairseq_xl.vectors.train import train_vectors

        vectors = train_vectors(self.texts, self.output, self, progress=not self.quiet)
        _report(f"{self.output}.bin and {self.output}.vec", vectors)


@dataclass(frozen=True, kw_only=True)
class Convert(Transformation):
    """Read vectors in one format and write them in another. With --dict, the command reads only the dictionary's words
    into memory and writes them in its order. From a .bin, words that fastText never saw get the vectors of their
    subwords. A checkpoint (.pt) of a translation model with a softmax gives the vectors of its output layer, and --dict
    must be its own dictionary. As targets they know which words translation confuses. The transformations
    (--normalize-first to --normalize) are done in the order in which they stand here. The first reduce hubs, which are
    neighbours of very many words. Random shares tell rare words apart."""

    source: Path = argument(f"{READABLE}; or a checkpoint .pt with a softmax")
    output: Path = option(f"{WRITABLE}; replaced if it is there", alias="-o")
    dict: Path | None = option(f"keep only the words of this {DICTIONARY}", None)
    specials: bool = option(
        "with --dict: keep the source's own vectors of </s> and <unk> too, if it has them, for the models' "
        "--special-vectors file",
        False,
    )
    min_coverage: float = option(
        "with --dict: refuse vectors that cover a smaller share of its words. Vectors of another language cover few",
        0.0,
        low=0,
        high=1,
        metavar="SHARE",
    )
    dim: int | None = option("refuse vectors of another dimension", None, low=1)
    center_on: Path | None = option(
        f"take the mean and the directions only from the words of this {DICTIONARY}. Give the dictionary of the "
        "training where a table of more words shall lie in the space of a trained model's table",
        None,
        metavar="DICT",
    )
    weighted: bool = option("count each word as often as the dictionary does in the mean and the directions", False)
    quiet: bool = option("show no progress", False)

    def run(self) -> None:
        from fairseq_xl.vectors.dictionary import read_dictionary
        from fairseq_xl.vectors.table import write_vectors
        from fairseq_xl.vectors.transform import transform

        if self.dict is None and (self.weighted or self.specials or self.min_coverage):
            raise InputError("--weighted, --specials and --min-coverage need a dictionary: give --dict")
        for name, given in (("--weighted", self.weighted), ("--center-on", self.center_on)):
            if given and not self.centers:
                raise InputError(f"{name} changes nothing without --center, --remove-components or --whiten")
        if not self.random_share:
            refuse_given(self, ["random_seed"], "is the seed of --random-share, which is 0")
        counts = read_dictionary(self.dict) if self.dict else None
        vectors = self._read(counts)
        weights = [counts.get(word, 0) for word in vectors.words] if self.weighted and counts else None
        if self.center_on:
            of_these = read_dictionary(self.center_on)
            weights = [(weights[row] if weights else 1) * (word in of_these) for row, word in enumerate(vectors.words)]
            if not any(weights):
                raise InputError(f"--center-on {self.center_on}: it has none of the words, or counts, of the table")
        if any(getattr(self, each.name) for each in fields(Transformation) if each.name != "random_seed"):
            vectors = transform(vectors, self, weights)
        write_vectors(self.output, vectors, progress=not self.quiet)
        _report(self.output, vectors)

    def _read(self, counts: Mapping[str, int] | None) -> WordVectors:
        from fairseq_xl.vectors.coverage import coverage
        from fairseq_xl.vectors.table import read_vectors

        wanted = None if counts is None else [*counts, *(["</s>", "<unk>"] if self.specials else [])]
        if self.source.suffix == ".pt":
            vectors = self._read_checkpoint(wanted)
        else:
            vectors = read_vectors(self.source, words=wanted, dim=self.dim, progress=not self.quiet)
        if counts is not None:
            covered = coverage(counts, vectors.index)
            if not covered.covered_types:
                raise InputError(
                    f"{self.source} has a vector for none of the {covered.types} words of {self.dict}: "
                    "are they of the same language, case and tokenisation?"
                )
            if covered.type_share < self.min_coverage:
                raise InputError(
                    f"{self.source} has a vector for {covered.type_share:.1%} of the words of {self.dict}, fewer than "
                    f"{self.min_coverage:.0%}: are they of the same language, case and tokenisation?"
                )
            print(covered, file=sys.stderr)
        return vectors

    def _read_checkpoint(self, wanted: list[str] | None) -> WordVectors:
        from fairseq_xl.vectors.formats.output_layer import read_output_layer

        if self.dict is None or wanted is None:
            raise InputError("a checkpoint's vectors need its target dictionary: give --dict")
        vectors = read_output_layer(self.source, self.dict, wanted)
        if self.dim not in (None, vectors.dim):
            raise InputError(
                f"{self.source} holds vectors of dimension {vectors.dim}, but dimension {self.dim} is needed"
            )
        return vectors


@dataclass(kw_only=True)
class Random:
    """Write a random unit vector for every word of a dictionary or a word list: what trained vectors must beat. A
    word's vector depends on the word and the seed alone."""

    output: Path = option(WRITABLE, alias="-o")
    dict: Path | None = option(DICTIONARY, None, exclusive="words!")
    words: Path | None = option("a file with one word per line", None, exclusive="words!")
    dim: int = option("dimension of the vectors", 300, low=1, high=65_536)
    seed: int = option("random seed", 0, low=0, high=GREATEST_SEED)
    quiet: bool = option("show no progress", False)

    def run(self) -> None:
        from fairseq_xl.io.lines import read_lines
        from fairseq_xl.vectors.dictionary import read_dictionary
        from fairseq_xl.vectors.random import random_vectors
        from fairseq_xl.vectors.table import write_vectors

        words = read_dictionary(self.dict) if self.dict else filter(None, read_lines(self.words or ""))
        vectors = random_vectors(list(words), self.dim, self.seed)
        write_vectors(self.output, vectors, progress=not self.quiet)
        _report(self.output, vectors)


def _report(name: object, vectors: WordVectors) -> None:
    print(f"wrote {name}: {len(vectors)} vectors of dimension {vectors.dim}", file=sys.stderr)
