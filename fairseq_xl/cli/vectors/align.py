"""``fairseq-xl vectors align`` and ``join``: two languages' vectors in one space, and in one table."""

from __future__ import annotations

import re
import sys
from dataclasses import dataclass
from pathlib import Path

from fairseq_xl.cli.vectors import WRITABLE
from fairseq_xl.io.errors import InputError
from fairseq_xl.io.settings import argument, names_and_values, option


@dataclass(kw_only=True)
class Align:
    """Rotate the vectors of one language into the space of another (Procrustes with refinement). With --test, say how
    well the nearest words translate. Both tables are written as unit vectors, centered: use them together."""

    source: Path = argument("vectors to rotate, frequent words first")
    target: Path = argument("vectors of the space to rotate into")
    output: tuple[Path, Path] = option("files to write", alias="-o", metavar=("SOURCE.vec", "TARGET.vec"))
    dictionary: Path | None = option(
        "seed: source word, tab or blank, target word, a pair a line; a weight after them, as in the files of "
        "`fairseq-xl data lexicon`, is passed over",
        None,
        exclusive="seed!",
    )
    identical: bool = option(
        "seed: words that both languages write alike, such as names and numbers", False, exclusive="seed!"
    )
    rounds: int = option("rounds of refinement. Give 0 for the seed alone, where it is large and sure", 5, low=0)
    frequent: int = option(
        "words of each side that refine. Give fewer where rare words' vectors are poor", 10_000, low=10
    )
    test: Path | None = option("dictionary to measure P@1 and P@5 on, which must not be the seed's", None)
    quiet: bool = option("show no progress", False)

    def run(self) -> None:
        from fairseq_xl.io.lexicons import read_entries
        from fairseq_xl.vectors.alignment import align, centered_units, measured
        from fairseq_xl.vectors.table import WordVectors, read_vectors, writing

        inputs = (read_vectors(path, progress=not self.quiet) for path in (self.source, self.target))
        source, target = map(centered_units, inputs)
        if self.dictionary is None:
            seed = [(word, word) for word in source.words if word in target.index]
        else:
            seed = [(entry.word, entry.translation) for entry in read_entries(self.dictionary)]
        matrix, pairs = align(source, target, seed, self.rounds, self.frequent)
        rotated = WordVectors(source.words, source.matrix @ matrix)
        shares = measured(rotated, target, self.test) if self.test else None  # a broken dictionary changes no file
        first, second = self.output
        with writing(first, rotated), writing(second, target):  # together: tables of different spaces look alike
            pass
        print(f"{len(seed)} pairs in the seed, {len(pairs)} in the last dictionary", file=sys.stderr)
        if shares is not None:
            print(shares)


@dataclass(kw_only=True)
class Join:
    """Put vectors of one space, as `vectors align` writes them, into one table, each word behind its language and a
    colon: en:chat and fr:chat stay apart. `match prepare` reads it with languages=en+fr."""

    inputs: list[str] = argument("language and its vectors: en=en.vec", metavar="CODE=FILE")
    output: Path = option(WRITABLE, alias="-o")
    quiet: bool = option("show no progress", False)

    def run(self) -> None:
        import numpy as np

        from fairseq_xl.vectors.table import WordVectors, read_vectors, write_vectors

        tables: dict[str, WordVectors] = {}
        for code, name in names_and_values(self.inputs, "vectors join", "CODE=FILE, such as en=en.vec").items():
            if not re.fullmatch(r"[a-z][\w-]*", code):
                raise InputError(f"vectors join: {code!r} is no code of a language, such as en")
            table = read_vectors(Path(name), progress=not self.quiet)
            dim = next(iter(tables.values()), table).dim
            if table.dim != dim:
                raise InputError(f"{name} has {table.dim} dimensions where others have {dim}")
            tables[code] = table
        words = [f"{code}:{word}" for code, table in tables.items() for word in table.words]
        write_vectors(self.output, WordVectors(words, np.concatenate([table.matrix for table in tables.values()])))
