"""``fairseq-xl match statistics``: terms per sentence, and terms, sentences and pairs without a vector."""

from __future__ import annotations

import argparse
from pathlib import Path

from fairseq_xl.cli.match.wording_options import add_wording, chosen_wording


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
    add_wording(parser, cut=False)


def run(args: argparse.Namespace) -> None:
    """Print the table.

    Raises:
        InputError: a file that cannot be read.
    """
    from fairseq_xl.pairs.data.source import PairSource
    from fairseq_xl.pairs.data.statistics import table
    from fairseq_xl.pairs.data.vocabulary import vector_words

    wording = chosen_wording(args)
    known = vector_words(args.vectors) if args.vectors else None
    print(table([PairSource.parse(line) for line in args.sources], wording, known).markdown())
