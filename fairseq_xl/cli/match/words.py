"""``fairseq-xl match words``: text as the matchers read it, for training word vectors on."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from pathlib import Path

from fairseq_xl.cli.match.wording_options import add_wording, chosen_wording
from fairseq_xl.io.atomic import atomic_text
from fairseq_xl.io.errors import InputError
from fairseq_xl.io.lines import read_lines
from fairseq_xl.pairs.data.wording import Wording


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the step's options."""
    parser.add_argument(
        "inputs",
        nargs="+",
        metavar="FILE[,N…]",
        help="text, a sentence a line; with numbers, the columns of a file separated by tabs that hold text, "
        "such as train.txt,2,4",
    )
    parser.add_argument("--output", "-o", type=Path, required=True, metavar="FILE", help="each different sentence once")
    add_wording(parser)


def run(args: argparse.Namespace) -> None:
    """Write the sentences.

    Raises:
        InputError: a file that cannot be read or lacks a column.
    """
    wording = chosen_wording(args)
    seen: set[str] = set()
    with atomic_text(args.output) as stream:
        for given in args.inputs:
            for sentence in _sentences(given, wording):
                if sentence and sentence not in seen:
                    seen.add(sentence)
                    stream.write(sentence + "\n")
    print(f"{len(seen)} sentences", file=sys.stderr)


def _sentences(given: str, wording: Wording) -> Iterator[str]:
    name, *columns = given.split(",")
    if not all(column.isdigit() and int(column) for column in columns):
        raise InputError(f"{given!r}: after the file's name come numbers of columns, from 1")
    for number, line in enumerate(read_lines(name), start=1):
        cells = line.split("\t") if columns else [line]
        if columns and max(map(int, columns)) > len(cells):
            raise InputError(f"{name}, line {number}: {len(cells)} columns, but {given!r} wants more")
        for cell in [cells[int(column) - 1] for column in columns] or cells:
            yield " ".join(wording.words(cell))
