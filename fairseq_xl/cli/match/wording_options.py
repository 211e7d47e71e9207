"""The options of how a sentence becomes words, for every step that reads text."""

from __future__ import annotations

import argparse
import sys

from fairseq_xl.io.errors import InputError
from fairseq_xl.pairs.data.wording import Wording


def add_wording(parser: argparse.ArgumentParser, cut: bool = True) -> None:
    """Add them; without ``cut``, sentences count whole."""
    parser.add_argument("--keep-case", action="store_true", help="do not fold case")
    parser.add_argument("--keep-punctuation", action="store_true", help="keep punctuation marks as words of their own")
    if cut:
        parser.add_argument(
            "--longest",
            type=int,
            default=60,
            metavar="N",
            help="words of a sentence that count (default: 60, the paper's)",
        )


def chosen_wording(args: argparse.Namespace) -> Wording:
    """Raises: InputError: no word would count."""
    longest = getattr(args, "longest", sys.maxsize)
    if longest < 1:
        raise InputError(f"--longest is a number from 1, not {longest}")
    return Wording(not args.keep_case, args.keep_punctuation, longest)
