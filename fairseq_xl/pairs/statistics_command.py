"""``fairseq-xl pairs statistics``: terms per sentence, and terms, sentences and pairs without a vector."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the step's options."""
    parser.epilog = (
        "A source is FILE[,KEY=VALUE]… with the keys left, right, label (columns; label=none where there is none), "
        "format, encoding."
    )
    parser.add_argument("sources", nargs="+", metavar="SOURCE", help="files of pairs")
    parser.add_argument(
        "--vectors",
        type=Path,
        metavar="FILE",
        help="word vectors (.vec, .txt, .npy, .bin); of a .bin, which has a vector for any word, the words that it "
        "was trained on count as known",
    )
    add_wording(parser)


def add_wording(parser: argparse.ArgumentParser) -> None:
    """Add the options that say how a sentence becomes words; give what `pairs prepare` is given."""
    parser.add_argument(
        "--keep-case", action="store_true", help="do not fold case (for vectors of cased text)"
    )
    parser.add_argument(
        "--punctuation", action="store_true", help="punctuation marks count as words"
    )


def run(args: argparse.Namespace) -> None:
    """Print the table.

    Raises:
        InputError: a file that cannot be read.
    """
    from fairseq_xl.pairs.source import PairSource
    from fairseq_xl.pairs.statistics import table
    from fairseq_xl.pairs.vocabulary import vector_words
    from fairseq_xl.pairs.wording import Wording

    wording = Wording(not args.keep_case, args.punctuation, sys.maxsize)
    known = vector_words(args.vectors) if args.vectors else None
    print(table([PairSource.parse(line) for line in args.sources], wording, known).markdown())
