"""``fairseq-xl vectors join``: the vectors of several languages in one table, words marked with their language."""

from __future__ import annotations

import argparse
import re
from pathlib import Path

import numpy as np

from fairseq_xl.io.errors import InputError


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the step's options."""
    parser.description = (
        "Put vectors of one space, as `vectors align` writes them, into one table, each word behind its language and "
        "a colon: en:chat and fr:chat stay apart. `pairs prepare` reads it with languages=en+fr."
    )
    parser.add_argument("inputs", nargs="+", metavar="CODE=FILE", help="language and its vectors: en=en.vec")
    parser.add_argument(
        "--output", type=Path, required=True, metavar="FILE", help=".vec, .vec.gz, or .npy (its words in .vocab)"
    )


def run(args: argparse.Namespace) -> None:
    """Read, mark and write.

    Raises:
        InputError: an input that is not CODE=FILE, a language twice, dimensions that differ.
    """
    from fairseq_xl.vectors.table import WordVectors, read_vectors, write_vectors

    words: list[str] = []
    tables: list[np.ndarray] = []
    seen = set()
    for given in args.inputs:
        code, equals, name = given.partition("=")
        if not equals or not name or not re.fullmatch(r"[a-z][\w-]*", code):
            raise InputError(f"{given!r} is not CODE=FILE, such as en=en.vec")
        if code in seen:
            raise InputError(f"the language {code} is given twice")
        seen.add(code)
        table = read_vectors(Path(name), progress=not args.quiet)
        if tables and table.dim != tables[0].shape[1]:
            raise InputError(f"{name} has {table.dim} dimensions where others have {tables[0].shape[1]}")
        words += [f"{code}:{word}" for word in table.words]
        tables.append(table.matrix)
    write_vectors(args.output, WordVectors(words, np.concatenate(tables)))
