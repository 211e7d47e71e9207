"""The options of how a sentence becomes words, for every step that reads text."""

from __future__ import annotations

import argparse

from fairseq_xl.errors import InputError
from fairseq_xl.pairs.wording import Wording


def add_wording(parser: argparse.ArgumentParser) -> None:
    """Add them."""
    parser.add_argument("--keep-case", action="store_true", help="do not fold case")
    parser.add_argument(
        "--keep-punctuation",
        action="store_true",
        help="keep punctuation marks as words of their own",
    )
    parser.add_argument(
        "--longest",
        type=int,
        default=60,
        metavar="N",
        help="words of a sentence that count (default: 60, the paper's)",
    )


def chosen_wording(args: argparse.Namespace) -> Wording:
    """Raises: InputError: no word would count."""
    if args.longest < 1:
        raise InputError(f"--longest is a number from 1, not {args.longest}")
    return Wording(not args.keep_case, args.keep_punctuation, args.longest)
