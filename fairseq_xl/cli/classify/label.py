"""``fairseq-xl classify label``: give unlabelled sentence pairs the class that their rich side is found to have."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from fairseq_xl.io.atomic import atomic_text
from fairseq_xl.io.errors import InputError
from fairseq_xl.io.lines import count_lines, read_lines
from fairseq_xl.siamese.data.checks import check_file

if TYPE_CHECKING:
    from fairseq_xl.siamese.prediction.classifier import Classifier
    from fairseq_xl.siamese.prediction.unlabelled import Labelled


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the step's options."""
    import fairseq_xl

    fairseq_xl.register()
    from fairseq_xl.cli.classify.rule_options import add_rule

    parser.description = (
        "Label the rich side of line-aligned pairs with a classifier trained on the rich language alone (which is "
        "the --poor of its prepared folder), and give both sides that class. The two files that come out are sources "
        "for `fairseq-xl classify prepare`."
    )
    parser.add_argument("checkpoint", type=Path, help="checkpoint of a classifier of the rich language")
    parser.add_argument("rich", type=Path, help="sentences of the rich language, one a line")
    parser.add_argument("poor", type=Path, help="the poor language's, line by line")
    parser.add_argument(
        "--output",
        "-o",
        type=Path,
        nargs=2,
        required=True,
        metavar=("RICH", "POOR"),
        help="files to write: class, tab, sentence",
    )
    parser.add_argument(
        "--least",
        type=float,
        default=0.0,
        metavar="X",
        help="leave pairs out whose class has a "
        "smaller share of the score, from 0 to 1 (default: 0, keep all); for the rules matches and knn "
        "alone, as the shares of the others hardly differ",
    )
    parser.add_argument("--data", type=Path, metavar="DIR", help="the classifier's prepared folder, where it has moved")
    parser.add_argument("--cpu", action="store_true", help="do not use a GPU")
    add_rule(parser)


def run(args: argparse.Namespace) -> None:
    """Label and write.

    Raises:
        InputError: files of unequal length, no such checkpoint, options that make no sense.
    """
    from fairseq_xl.cli.classify.rule_options import chosen_rule
    from fairseq_xl.siamese.prediction.classifier import Classifier
    from fairseq_xl.siamese.prediction.unlabelled import Labelled, label_pairs

    for path in args.output:
        check_file(path)
    if args.output[0].resolve() == args.output[1].resolve():
        raise InputError(f"--output names {args.output[0]} twice: give each side a file of its own")
    lines = count_lines(args.rich), count_lines(args.poor)
    if lines[0] != lines[1]:
        raise InputError(f"{args.rich} has {lines[0]} lines and {args.poor} {lines[1]}: pairs stand on equal lines")
    if not 0 <= args.least <= 1:
        raise InputError(f"--least is a share from 0 to 1, not {args.least}")
    classifier = Classifier.load(args.checkpoint, args.data, chosen_rule(args), args.cpu)
    if args.least and classifier.rule_name not in ("matches", "knn"):
        raise InputError(
            f"--least has no use with the rule {classifier.rule_name}, whose shares hardly differ: choose --rule "
            "matches or knn"
        )
    count = Labelled()
    pairs = _filled(zip(read_lines(args.rich), read_lines(args.poor), strict=True), classifier, count)
    with atomic_text(args.output[0]) as rich_file, atomic_text(args.output[1]) as poor_file:
        for label, rich, poor in label_pairs(pairs, lambda t: classifier.predict(t, neighbours=0), args.least, count):
            rich_file.write(f"{label}\t{_one_line(rich)}\n")
            poor_file.write(f"{label}\t{_one_line(poor)}\n")
    print(count, file=sys.stderr)


def _filled(pairs: Iterable[tuple[str, str]], classifier: Classifier, count: Labelled) -> Iterator[tuple[str, str]]:
    for pair in pairs:
        if all(map(classifier.task.prepared.clean, pair)):
            yield pair
        else:
            count.blank += 1


def _one_line(text: str) -> str:
    return " ".join(text.split())
