"""``fairseq-xl match report``: the paper's Table 2 with intervals and paired differences, from records."""

from __future__ import annotations

import argparse
from pathlib import Path

from fairseq_xl.io.atomic import atomic_text
from fairseq_xl.io.errors import InputError


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the step's options."""
    parser.description = (
        "Compare matchers from the records that `predict`, `baseline` and `ensemble` write; records of one name are "
        "runs (seeds) of one matcher. Writes scores and differences as .md, .tex and .csv, and log-loss and "
        "reliability as .png and .pdf."
    )
    parser.add_argument("records", type=Path, nargs="+", help="records of the same labelled pairs")
    parser.add_argument("--output", "-o", type=Path, required=True, metavar="DIR", help="folder to write")
    parser.add_argument(
        "--against",
        metavar="NAME",
        help="the matcher from which the differences are counted (default: that with the lowest log loss)",
    )
    parser.add_argument(
        "--paper", action="store_true", help="put the figures of Hadgu 2018 beside (for its Spanish pairs)"
    )
    parser.add_argument("--samples", type=int, default=2000, help="draws for the intervals (default: 2000)")
    parser.add_argument("--no-figures", action="store_true", help="tables alone")


def run(args: argparse.Namespace) -> None:
    """Write the tables and print them.

    Raises:
        InputError: records that cannot be read or compared, an unknown matcher.
    """
    from fairseq_xl.pairs.evaluation import comparison
    from fairseq_xl.pairs.evaluation.record import PairRecord, together

    if args.samples < 1:
        raise InputError(f"--samples {args.samples}: at least one draw is needed")
    found = comparison.compare(together([PairRecord.read(path) for path in args.records]), args.samples)
    against = args.against or found.best
    if against not in found.measured:
        raise InputError(f"--against {against!r} is none of {', '.join(found.measured)}")
    tables = comparison.tables(found, against, args.paper)
    for name, table in tables.items():
        for suffix, text in ((".md", table.markdown()), (".tex", table.latex()), (".csv", table.csv())):
            with atomic_text(args.output / f"{name}{suffix}") as stream:
                stream.write(text)
    if not args.no_figures:
        comparison.draw(found, args.output, args.paper)
    for table in tables.values():
        print(table.markdown())
