"""``fairseq-xl embed tables``: the records of several evaluations in one set of tables."""

from __future__ import annotations

import argparse
from pathlib import Path

from fairseq_xl.io.atomic import atomic_text
from fairseq_xl.syntactic.evaluation.tables import read_record, tables


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the arguments."""
    parser.description = (
        "Put the encoders of several evaluations into one set of tables. Encoders of the same label become one row, "
        "mean ± standard deviation: label the seeds of a system alike."
    )
    add = parser.add_argument
    add("records", nargs="+", type=Path, metavar="JSON", help="what fairseq-xl embed evaluate --output wrote")
    add("--format", choices=("markdown", "latex", "csv"), default="markdown", help="(default: markdown)")
    add("--output", "-o", type=Path, help="file to write (default: standard output)")


def run(args: argparse.Namespace) -> None:
    """Print or write the tables."""
    made = tables([read_record(path) for path in args.records])
    text = "\n".join(getattr(table, args.format)() for table in made)
    if args.output is None:
        print(text)
        return
    with atomic_text(args.output) as stream:
        stream.write(text)
