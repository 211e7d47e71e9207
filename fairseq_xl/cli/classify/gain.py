"""``fairseq-xl classify gain``: one system against another over several languages."""

from __future__ import annotations

import argparse
from pathlib import Path

from fairseq_xl.cli.classify.report import check_samples, read_record
from fairseq_xl.io.atomic import atomic_text
from fairseq_xl.siamese.data.checks import check_file


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the step's options."""
    parser.description = (
        "What one system gains over another, language by language and on average, with intervals: is it transfer "
        "(the twin over the monolingual one), and of labels (over the control whose labels are shuffled)?"
    )
    parser.add_argument("records", type=Path, nargs="+", help="records of several languages and runs")
    parser.add_argument(
        "--system",
        default="SSC({poor}-{rich})",
        metavar="NAME",
        help="{poor} and {rich} stand for the codes of a record's languages (default: %(default)s)",
    )
    parser.add_argument(
        "--over", default="SSC({poor}-{poor})", metavar="NAME", help="the other one (default: %(default)s)"
    )
    parser.add_argument("--samples", type=int, default=2000, help="draws for the intervals (default: 2000)")
    parser.add_argument("--output", "-o", type=Path, metavar="FILE", help="write the table, as Markdown, here, too")


def run(args: argparse.Namespace) -> None:
    """Print the table.

    Raises:
        InputError: records that cannot be read or compared, no samples.
    """
    from fairseq_xl.siamese.evaluation.gain import gains

    check_samples(args.samples)
    check_file(args.output)
    records = [read_record(path) for path in args.records]
    text = gains(records, args.system, args.over, args.samples).markdown()
    if args.output:
        with atomic_text(args.output) as stream:
            stream.write(text)
    print(text)
