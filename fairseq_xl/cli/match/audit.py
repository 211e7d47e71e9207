"""``fairseq-xl match audit``: how many labelled pairs equal keys find, and how many of them rightly."""

from __future__ import annotations

import argparse
from pathlib import Path


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the step's options."""
    parser.description = (
        "Judge the keys that `pairs mint` matches sentences by on labelled pairs of English: which share of the "
        "matching pairs they recover, and how many pairs they find wrongly; beside them exact match (without case "
        "and punctuation) and a classifier: logistic regression on TF-IDF similarities, which judges pairs of "
        "questions that it was not trained on (threshold 0.5)."
    )
    parser.add_argument(
        "source",
        metavar="SOURCE",
        help="FILE[,KEY=VALUE]… with the keys left, right, label (columns), format, encoding; left and right are the "
        "English columns",
    )
    parser.add_argument(
        "--show", type=int, default=0, metavar="N", help="print up to N wrongly found pairs of each matcher"
    )
    parser.add_argument(
        "--stop-words",
        type=Path,
        metavar="FILE",
        help="English words that keys leave out, instead of the package's list: one list may be surer than another",
    )
    parser.add_argument("--seed", type=int, default=1, help="of the classifier's folds (default: %(default)s)")


def run(args: argparse.Namespace) -> None:
    """Print the table and the wrong pairs.

    Raises:
        InputError: a source that cannot be read, has no labels or too few pairs.
    """
    from fairseq_xl.io.errors import InputError
    from fairseq_xl.pairs.augmentation.audit import audit
    from fairseq_xl.pairs.augmentation.key import EnglishKey
    from fairseq_xl.pairs.data.source import PairSource

    pairs = list(PairSource.parse(args.source).pairs())
    if not pairs or pairs[0].label is None:
        raise InputError(f"{args.source!r} has no labelled pairs to judge by")
    table, matchers = audit(pairs, EnglishKey.of_file(args.stop_words), args.seed)
    print(table.markdown())
    for name, found in matchers.items() if args.show > 0 else ():
        wrong = [pair for pair, hit in zip(pairs, found, strict=True) if hit and not pair.label]
        print(f"{name}, wrongly found:")
        for pair in wrong[: args.show]:
            print(f"{pair.where}\t{pair.left}\t{pair.right}")
