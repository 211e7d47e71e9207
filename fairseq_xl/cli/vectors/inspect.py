"""``fairseq-xl vectors coverage`` and ``neighbours``: what a file of vectors is like."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path

from fairseq_xl.cli.vectors import DICTIONARY, READABLE
from fairseq_xl.io.settings import argument, option


@dataclass(kw_only=True)
class Coverage:
    """Say which dictionary words have no vector, and how much of the text they make."""

    vectors: Path = argument(READABLE)
    dict: Path = option(DICTIONARY)
    show: int = option("list this many missing words, the most frequent first; -1 for all", 20, low=-1)
    min_coverage: float = option(
        "exit with status 1 when a smaller share of the words has a vector, from 0 to 1", 0.0, low=0, high=1
    )
    quiet: bool = option("show no progress", False)

    def run(self) -> int:
        from fairseq_xl.vectors.coverage import coverage
        from fairseq_xl.vectors.dictionary import read_dictionary
        from fairseq_xl.vectors.formats.fasttext import fasttext_vocabulary
        from fairseq_xl.vectors.table import read_vectors

        counts = read_dictionary(self.dict)
        vectors = read_vectors(self.vectors, words=counts, progress=not self.quiet)
        covered = coverage(counts, vectors.index)
        print(f"{self.vectors}: {covered}")
        listed, what = covered.missing, "without a vector"
        if self.vectors.suffix == ".bin":
            trained = coverage(counts, fasttext_vocabulary(self.vectors))
            print(f"not counting those made of subwords, {trained}")
            listed, what = trained.missing, "seen too rarely in training"
        shown = listed if self.show < 0 else listed[: self.show]
        if shown:
            print(f"words {what} ({len(shown)} of {len(listed)}, with their counts):")
            for word, count in shown:
                print(f"{count:10d} {word}")
        if covered.type_share < self.min_coverage:
            print(
                f"only {covered.type_share:.2%} of the words have a vector, --min-coverage asks for "
                f"{self.min_coverage:.2%}",
                file=sys.stderr,
            )
            return 1
        return 0


@dataclass(kw_only=True)
class Neighbours:
    """Show the words nearest to given words, by the cosine of their vectors."""

    words: list[str] = argument("words to look up")
    vectors: Path = option(READABLE)
    top: int = option("neighbours to show per word", 10, alias="-k", low=1, metavar="N")
    dict: Path | None = option(f"look only among the words of this {DICTIONARY}", None)
    quiet: bool = option("show no progress", False)

    def run(self) -> None:
        from fairseq_xl.vectors.dictionary import read_dictionary
        from fairseq_xl.vectors.formats.fasttext import fasttext_vocabulary
        from fairseq_xl.vectors.neighbours import neighbours
        from fairseq_xl.vectors.table import read_vectors

        among = None
        if self.dict:
            among = list(read_dictionary(self.dict))
        elif self.vectors.suffix == ".bin" and self.vectors.is_file():
            among = fasttext_vocabulary(self.vectors)  # unseen words are asked for by their subwords
        wanted = None if among is None else [*among, *self.words]
        vectors = read_vectors(self.vectors, words=wanted, progress=not self.quiet)
        for word, near in neighbours(vectors, self.words, self.top, None if among is None else set(among)).items():
            print(word)
            for neighbour, cosine in near:
                print(f"{cosine:10.4f} {neighbour}")
