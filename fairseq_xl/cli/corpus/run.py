"""``fairseq-xl corpus run``: every step that is not done, in order."""

from __future__ import annotations

import argparse
import importlib

from fairseq_xl.cli.corpus import COMMANDS
from fairseq_xl.cli.corpus.options import add_project
from fairseq_xl.io.errors import InputError

ORDER = ("crawl", "extract", "translate", "align", "topics", "negatives", "export")


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    parser.description = (
        f"Run {', '.join(ORDER)}. A step that is done with the same settings and inputs is passed over, so that a "
        "run that was interrupted goes on where it was."
    )
    add_project(parser)
    parser.add_argument("--first", choices=ORDER, default=ORDER[0], help="begin here (default: crawl)")
    parser.add_argument("--last", choices=ORDER, default=ORDER[-1], help="end here (default: export)")


def run(args: argparse.Namespace) -> None:
    """Run them.

    Raises:
        InputError: whatever a step finds wrong, or a last step before the first.
    """
    first, last = ORDER.index(args.first), ORDER.index(args.last)
    if last < first:
        raise InputError(f"--last {args.last} comes before --first {args.first}: the order is {' '.join(ORDER)}")
    words = ["--project", str(args.project), *(["--again"] if args.again else [])]
    words += ["--set", *args.set] if args.set else []
    for step in ORDER[first : last + 1]:
        module = importlib.import_module(COMMANDS[step][0])
        parser = argparse.ArgumentParser(prog=f"fairseq-xl corpus {step}")
        module.configure(parser)
        module.run(parser.parse_args(words))
