"""``fairseq-xl match prepare``."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from fairseq_xl.cli.match.wording_options import add_wording, chosen_wording
from fairseq_xl.io.errors import InputError
from fairseq_xl.pairs.data.source import PairSource

SOURCE_HELP = (
    "A source is FILE[,KEY=VALUE]…:\n"
    "  left=COLUMN right=COLUMN label=COLUMN   numbers from 1 or names of the first row (default: 1, 2, 3);\n"
    "                                          label=none: the file has no labels\n"
    "  left_translation=COLUMN right_translation=COLUMN   for minting\n"
    "  languages=en+fr                         of left and right, whose words are then told apart; their vectors\n"
    "                                          come from `fairseq-xl vectors join`\n"
    "  fold=COLUMN                             folds that the file gives, numbers from 0\n"
    "  format=tsv|csv                          by default from the file's suffix; quotes mean nothing in tsv\n"
    "  encoding=NAME                           by default found and, unless UTF-8, said\n"
    "  part=train|valid|test                   default: train"
)


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the step's options."""
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.epilog = SOURCE_HELP
    parser.add_argument("output", type=Path, metavar="DIR", help="folder to write")
    parser.add_argument("sources", nargs="+", metavar="SOURCE", help="files of pairs, see below")
    parser.add_argument(
        "--also",
        nargs="+",
        default=[],
        metavar="SOURCE",
        help="pairs to be judged later, whose words enter the dictionary where they have a vector",
    )
    parser.add_argument(
        "--vectors",
        type=Path,
        metavar="FILE",
        help="word vectors (.vec, .bin with subwords, .npy); without, random ones to be trained with --tune-vectors",
    )
    parser.add_argument("--dim", type=int, default=300, help="of random vectors (default: 300)")
    parser.add_argument(
        "--like",
        type=Path,
        metavar="DIR",
        help="take words, dictionary and vectors from this prepared folder, so that a model trained there can be "
        "tuned or used here (give these files to --also there, or their new words are unknown)",
    )
    parser.add_argument(
        "--minimum",
        type=int,
        default=1,
        metavar="N",
        help="a word without a vector seen less often in training is unknown (default: 1)",
    )
    parser.add_argument(
        "--folds", type=int, default=1, metavar="N", help="of the training pairs for cross-validation (default: none)"
    )
    parser.add_argument(
        "--together",
        choices=("components", "communities", "sentences"),
        default="communities",
        help="what no fold may separate: connected components of sentences (no pair is lost, but one component may "
        "hold nearly all), communities (default; few pairs lie across folds), single sentences (many do)",
    )
    parser.add_argument(
        "--leaks",
        choices=("sentences", "pairs", "nothing"),
        default="sentences",
        help="leave training pairs out that share a sentence (default) or are equal to a pair of the valid or test "
        "part",
    )
    parser.add_argument("--seed", type=int, default=1, help="of folds and random vectors (default: 1)")
    add_wording(parser)


def run(args: argparse.Namespace) -> None:
    """Prepare and say what is there.

    Raises:
        InputError: a source that cannot be used, numbers that make no sense.
    """
    for name in ("folds", "minimum", "dim"):
        if getattr(args, name) < 1:
            raise InputError(f"--{name} is a number from 1, not {getattr(args, name)}")
    if args.like and args.vectors:
        raise InputError("--like brings vectors of its own: leave out --vectors")
    wording = chosen_wording(args)
    sources, also = ([PairSource.parse(line) for line in given] for given in (args.sources, args.also))
    import fairseq_xl

    fairseq_xl.register()
    from fairseq_xl.pairs.data.folder import Prepared
    from fairseq_xl.pairs.data.prepare import Settings, inside, prepare

    settings = Settings(
        wording, args.minimum, args.vectors, args.dim, args.folds, args.together, args.leaks, args.seed, args.like
    )
    manifest = prepare(args.output, sources, also, settings)
    for part, count in manifest["pairs"].items():
        print(f"{part}: {count} pairs, {manifest['matching'][part]} labelled as matching", file=sys.stderr)
    for why, count in manifest["left_out"].items():
        if count:
            print(f"left out of training: {count} {why}", file=sys.stderr)
    if manifest["folds"] > 1:
        *counts, across = inside(Prepared(args.output).rows("train"), manifest["folds"])
        print(f"pairs in each fold: {' '.join(map(str, counts))}; across folds: {across}", file=sys.stderr)
    vectors = manifest["vectors"]
    known = "random vectors" if vectors is None else f"{vectors['found']} with a vector"
    print(f"{manifest['words']} words, {known}", file=sys.stderr)
