"""``fairseq-xl classify prepare``."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from fairseq_xl.io import labelled
from fairseq_xl.io.errors import InputError
from fairseq_xl.siamese.data.checks import check_least, check_seed


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the step's options."""
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.epilog = (
        "A source is FILE[,KEY=VALUE]…:\n"
        "  format=tsv|csv|jsonl|spaces|lines   by default from the file's suffix; spaces: label, blanks, text\n"
        "  class=COLUMN text=COLUMN            number from 1, name in the first row, or JSON key\n"
        "  labels=FILE | label=CLASS           a label a line, for a file of text alone | one for the whole file\n"
        "  classes=FILE                        label, tab, class name\n"
        "  encoding=NAME                       by default found and, unless UTF-8, said\n"
        "  escapes=json                        texts hold \\u2019 and the like for what they mean\n"
        "  part=train|valid|test               default: train"
    )
    parser.add_argument("output", type=Path, metavar="DIR", help="folder to write")
    parser.add_argument(
        "--poor", nargs="+", required=True, metavar="SOURCE", help="labelled text of the language to classify"
    )
    parser.add_argument(
        "--rich",
        nargs="+",
        default=[],
        metavar="SOURCE",
        help="labelled text of the language that lends its labels; without it pairs are monolingual",
    )
    parser.add_argument(
        "--languages",
        nargs="+",
        default=["poor", "rich"],
        metavar="CODE",
        help="their names, such as te en, for reports",
    )
    parser.add_argument(
        "--classes",
        nargs="+",
        default=[],
        metavar="CLASS",
        help="the classes to tell apart (default: all in the poor language's training text)",
    )
    parser.add_argument(
        "--class-source",
        nargs="+",
        default=[],
        metavar="SOURCE",
        help="labelled text whose classes these are, instead of the poor language's training text: for a classifier "
        "whose classes another language is to have",
    )
    parser.add_argument(
        "--most-frequent",
        type=int,
        default=0,
        metavar="N",
        help="of these the poor language's N most frequent; texts of others are left out",
    )
    parser.add_argument(
        "--shared", action="store_true", help="of these only the classes that all the training texts have"
    )
    parser.add_argument(
        "--others",
        choices=("error", "drop"),
        default="error",
        help="what to do with a text of another class (default: error)",
    )
    parser.add_argument(
        "--ngrams",
        type=int,
        nargs="+",
        default=[3],
        metavar="N",
        help="lengths of the character n-grams (default: 3, the paper's; 3 2 1 adds shorter ones at each place)",
    )
    parser.add_argument("--lower", action="store_true", help="fold case")
    parser.add_argument(
        "--minimum",
        type=int,
        default=1,
        metavar="N",
        help="n-grams seen less often count as unseen (default: 1); 2 gives the model practice with unseen ones",
    )
    parser.add_argument(
        "--morphemes",
        nargs="*",
        choices=("poor", "rich"),
        default=[],
        help="segment the words of these sides with Morfessor before the n-grams are taken",
    )
    parser.add_argument(
        "--valid-share",
        type=float,
        default=0.1,
        metavar="X",
        help="of the poor language's training "
        "text for development, where no source is part=valid; more where it is small, or the best checkpoint is "
        "chosen by chance (default: 0.1)",
    )
    parser.add_argument(
        "--test-share",
        type=float,
        default=0.1,
        metavar="X",
        help="the same for the test, where no source is part=test (default: 0.1)",
    )
    parser.add_argument("--seed", type=int, default=1, help="of the split (default: 1)")
    parser.add_argument(
        "--poor-size",
        type=int,
        default=0,
        metavar="N",
        help="use N of the poor language's training texts, a part of those for every larger N (default: all)",
    )
    parser.add_argument("--rich-size", type=int, default=0, metavar="N", help="the same for the rich language")
    parser.add_argument(
        "--shuffle-rich",
        action="store_true",
        help="control: deal the rich language's classes out at random; a gain that survives this is no transfer",
    )


def run(args: argparse.Namespace) -> None:
    """Prepare and say what is there.

    Raises:
        InputError: a source that cannot be used, sizes or shares that make no sense.
    """
    shares = (args.valid_share, args.test_share)
    if not (min(shares) >= 0 and sum(shares) < 1):  # nan is neither
        raise InputError("--valid-share and --test-share are shares from 0, together below 1")
    if min(args.ngrams) < 1 or sorted(set(args.ngrams), reverse=True) != args.ngrams:
        raise InputError("--ngrams takes different lengths from 1, the longest first, such as 3 2 1")
    check_seed("--seed", args.seed)
    check_least("--minimum", args.minimum, 1)
    for option in ("most_frequent", "poor_size", "rich_size"):
        check_least(f"--{option.replace('_', '-')}", getattr(args, option))
    if len(args.languages) > 2:
        raise InputError(f"--languages {' '.join(args.languages)}: name the poor language and the rich one")
    poor, rich, class_sources = (
        [labelled.Source.parse(s) for s in given] for given in (args.poor, args.rich, args.class_source)
    )
    import fairseq_xl

    fairseq_xl.register()
    from fairseq_xl.siamese.data.prepare import Settings, prepare

    settings = Settings(
        tuple(args.languages[: 1 + bool(rich)]),
        tuple(args.classes),
        args.most_frequent,
        args.shared,
        args.others,
        tuple(args.ngrams),
        args.lower,
        args.minimum,
        tuple(args.morphemes),
        *shares,
        args.seed,
        args.poor_size,
        args.rich_size,
        args.shuffle_rich,
    )
    manifest = prepare(args.output, poor, rich, settings, class_sources)
    for side, parts in manifest["sentences"].items():
        counts = ", ".join(f"{part} {count}" for part, count in parts.items())
        lost = ", ".join(f"{count} {why}" for why, count in manifest["left_out"][side].items() if count)
        print(f"{manifest['languages'][side]}: {counts}" + (f"; left out: {lost}" if lost else ""), file=sys.stderr)
    print(f"{manifest['units']} n-grams, classes {' '.join(manifest['classes'])}", file=sys.stderr)
