"""``fairseq-xl vectors STEP``: train, convert, invent and inspect word vectors."""

from __future__ import annotations

import argparse
import math
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fairseq_xl.cli.vectors import align as align_command
from fairseq_xl.cli.vectors import join as join_command
from fairseq_xl.io.errors import InputError

if TYPE_CHECKING:
    from fairseq_xl.vectors.table import WordVectors

# The steps import what they need themselves, so that --help answers at once.

_FORMATS = (
    "fastText .bin, .npy with its words in a .vocab file beside it, or text (.vec, .txt, either "
    "gzipped, with or without a header line)"
)
_WRITTEN = ".vec, .vec.gz, or .npy (its words go to a .vocab file beside it)"
_TRANSFORMATIONS = (*("normalise_first", "centre", "remove_components", "whiten", "random_share", "normalise"),)
_DICT = "fairseq dictionary, the dict.LANGUAGE.txt that fairseq-preprocess writes"


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the steps and their options."""
    parser.description = "Train, convert and inspect the word vectors that models predict."
    steps = parser.add_subparsers(title="steps", metavar="STEP", required=True)
    _configure_train(_step(steps, "train", _train, "train fastText vectors on tokenised text"))
    _configure_convert(_step(steps, "convert", _convert, "change the format, the words or the geometry of vectors"))
    _configure_random(_step(steps, "random", _random, "write seeded random unit vectors, the baseline"))
    align_command.configure(_step(steps, "align", align_command.run, "rotate two languages' vectors into one space"))
    join_command.configure(_step(steps, "join", join_command.run, "put several languages' vectors into one table"))
    coverage = _step(steps, "coverage", _coverage, "say which dictionary words have no vector")
    coverage.add_argument("vectors", type=Path, metavar="VECTORS", help=_FORMATS)
    coverage.add_argument("--dict", type=Path, required=True, metavar="DICT", help=_DICT)
    coverage.add_argument(
        "--show",
        type=int,
        default=20,
        metavar="N",
        help="list this many missing words, the most frequent first; -1 for all (default: 20)",
    )
    coverage.add_argument(
        "--minimum",
        type=_share,
        default=0.0,
        metavar="SHARE",
        help="exit with status 1 when a smaller share of the words has a vector, from 0 to 1 (default: 0)",
    )
    near = _step(steps, "neighbours", _neighbours, "show the words nearest to given words")
    near.add_argument("words", nargs="+", metavar="WORD", help="words to look up")
    near.add_argument("--vectors", type=Path, required=True, metavar="VECTORS", help=_FORMATS)
    near.add_argument("-k", type=_positive, default=10, metavar="K", help="neighbours to show per word (default: 10)")
    near.add_argument("--dict", type=Path, metavar="DICT", help=f"look only among the words of this {_DICT}")


def run(args: argparse.Namespace) -> int | None:
    """Run the chosen step."""
    return args.step(args)


def _step(steps: Any, name: str, function: Callable[[argparse.Namespace], Any], text: str) -> argparse.ArgumentParser:
    parser: argparse.ArgumentParser = steps.add_parser(name, help=text, description=f"{text[0].upper()}{text[1:]}.")
    parser.set_defaults(step=function)
    parser.add_argument("--quiet", action="store_true", help="show no progress")
    return parser


def _configure_train(parser: argparse.ArgumentParser) -> None:
    parser.description = (
        "Train fastText vectors on tokenised text and write PREFIX.bin, which has a vector for "
        "every word, and PREFIX.vec, the words of the text. The defaults are fastText's own."
    )
    add = parser.add_argument
    add(
        "texts",
        nargs="+",
        type=Path,
        metavar="TEXT",
        help="plain UTF-8 text, one sentence per line, tokens separated by spaces",
    )
    add("--output", type=Path, required=True, metavar="PREFIX", help="write PREFIX.bin and PREFIX.vec")
    add(
        "--dim",
        type=_positive,
        default=300,
        help="dimension of the vectors; with little text fewer do as well and are faster (default: 300)",
    )
    add(
        "--model",
        choices=["skipgram", "cbow"],
        default="skipgram",
        help="predict the context from the word (skipgram, default: better for rare words) or the word from "
        "its context (cbow: faster on much text)",
    )
    add(
        "--epoch",
        type=_positive,
        default=5,
        metavar="N",
        help="passes over the text; more of them where it is small (default: 5)",
    )
    add(
        "--min-count",
        type=_positive,
        default=5,
        metavar="N",
        help="words seen less often are only in PREFIX.bin, by their subwords (default: 5)",
    )
    add("--seed", type=int, default=0, help="random seed; with --threads 1 it settles the result exactly (default: 0)")
    add(
        "--threads",
        type=_positive,
        default=None,
        metavar="N",
        help="threads that train; more than one give slightly other vectors each time (default: every processor)",
    )
    add(
        "--lr",
        type=float,
        default=0.05,
        help="learning rate at the start; lower it if training diverges (default: 0.05)",
    )
    add(
        "--window",
        type=_positive,
        default=5,
        metavar="N",
        help="most words between a word and its context; a wide window makes words of one topic near, a narrow "
        "one words of one kind (default: 5)",
    )
    add(
        "--min-subword",
        type=int,
        default=3,
        metavar="N",
        help="characters of the shortest subwords; 2, or 1, where words are short (default: 3)",
    )
    add(
        "--max-subword",
        type=int,
        default=6,
        metavar="N",
        help="characters of the longest subwords; 0 trains without subwords (default: 6)",
    )
    add(
        "--negatives",
        type=_positive,
        default=5,
        metavar="N",
        help="random words against each context word; more help small text and take longer (default: 5)",
    )
    add(
        "--buckets",
        type=_positive,
        default=2_000_000,
        metavar="N",
        help="hash buckets for subwords; PREFIX.bin and the memory take 4 x DIM x N bytes, 2.4 GB "
        "by default: a vocabulary of some thousand words needs no more than 100000 "
        "(default: 2000000)",
    )


def _configure_convert(parser: argparse.ArgumentParser) -> None:
    parser.description = (
        "Read vectors in one format and write them in another. With --dict, only the dictionary's "
        "words are read into memory and written, in its order; from a .bin, words that fastText "
        "never saw get the vectors of their subwords. From a checkpoint (.pt) of a translation model "
        "with a softmax, whose own dictionary --dict then is, come the vectors of its output layer: as "
        "targets they know which words translation confuses. The transformations are done in the order "
        "in which they stand here."
    )
    add = parser.add_argument
    add("source", type=Path, metavar="IN", help=f"{_FORMATS}; or a checkpoint .pt with a softmax")
    add("target", type=Path, metavar="OUT", help=f"{_WRITTEN}; replaced if it is there")
    add("--dict", type=Path, metavar="DICT", help=f"keep only the words of this {_DICT}")
    add(
        "--specials",
        action="store_true",
        help="with --dict: keep IN's own vectors of </s> and <unk> too, if it has them, for the "
        "models' --special-vectors file",
    )
    add("--dim", type=_positive, metavar="D", help="refuse vectors of another dimension")
    group = parser.add_argument_group(
        "transformations",
        "The first are against hubs, which are everyone's neighbours; random shares tell rare words apart.",
    )
    add = group.add_argument
    add("--normalise-first", action="store_true", help="scale every vector to length one before the others")
    add("--centre", action="store_true", help="subtract the mean vector")
    add(
        "--remove-components",
        type=int,
        default=0,
        metavar="K",
        help="subtract the mean and the K main directions of variance (all-but-the-top; DIM/100 is usual)",
    )
    add(
        "--whiten",
        action="store_true",
        help="subtract the mean and scale the main directions to the same variance (ZCA; 1e-5 of the mean "
        "variance is added to each, so that directions without any stay small)",
    )
    add(
        "--weighted",
        action="store_true",
        help="count each word as often as the dictionary does in the mean and the directions",
    )
    add(
        "--random-share",
        type=_share,
        default=0.0,
        metavar="R",
        help="give each word 1 - R of its vector, scaled to length one, and R of its vector of 'vectors "
        "random': 1 is all random, 0.5 is worth a try where rare words are confused (default: 0)",
    )
    add("--random-seed", type=int, default=0, metavar="SEED", help="seed of the random vectors (default: 0)")
    add("--normalise", action="store_true", help="scale every vector to length one at the end")


def _configure_random(parser: argparse.ArgumentParser) -> None:
    parser.description = (
        "Write a random unit vector for every word of a dictionary or a word list: what trained "
        "vectors must beat. A word's vector depends on the word and the seed alone."
    )
    words = parser.add_mutually_exclusive_group(required=True)
    words.add_argument("--dict", type=Path, metavar="DICT", help=_DICT)
    words.add_argument("--words", type=Path, metavar="FILE", help="a file with one word per line")
    parser.add_argument("target", type=Path, metavar="OUT", help=_WRITTEN)
    parser.add_argument("--dim", type=_positive, default=300, help="dimension of the vectors (default: 300)")
    parser.add_argument("--seed", type=int, default=0, help="random seed (default: 0)")


def _train(args: argparse.Namespace) -> None:
    from fairseq_xl.vectors.training.train import train_vectors

    vectors = train_vectors(
        args.texts,
        args.output,
        dim=args.dim,
        model=args.model,
        epoch=args.epoch,
        min_count=args.min_count,
        seed=args.seed,
        threads=args.threads,
        lr=args.lr,
        window=args.window,
        min_subword=args.min_subword,
        max_subword=args.max_subword,
        negatives=args.negatives,
        buckets=args.buckets,
        progress=not args.quiet,
    )
    _report(f"{args.output}.bin and {args.output}.vec", vectors)


def _convert(args: argparse.Namespace) -> None:
    from fairseq_xl.vectors.coverage import coverage
    from fairseq_xl.vectors.dictionary import read_dictionary
    from fairseq_xl.vectors.table import read_vectors, write_vectors
    from fairseq_xl.vectors.transform import transform

    if args.dict is None and (args.weighted or args.specials):
        raise InputError("--weighted and --specials need a dictionary: give --dict")
    if args.weighted and not (args.centre or args.remove_components or args.whiten):
        raise InputError("--weighted changes nothing without --centre, --remove-components or --whiten")
    counts = read_dictionary(args.dict) if args.dict else None
    wanted = None
    if counts is not None:
        wanted = list(counts) + (["</s>", "<unk>"] if args.specials else [])
    if args.source.suffix == ".pt":
        vectors = _from_checkpoint(args, wanted)
    else:
        vectors = read_vectors(args.source, words=wanted, dim=args.dim, progress=not args.quiet)
    if counts is not None:
        covered = coverage(counts, vectors.index)
        if not covered.covered_types:
            raise InputError(
                f"{args.source} has a vector for none of the {covered.types} words of {args.dict}: "
                "are they of the same language, case and tokenisation?"
            )
        print(covered, file=sys.stderr)
    weights = [counts.get(word, 0) for word in vectors.words] if args.weighted and counts else None
    steps = {name: getattr(args, name) for name in _TRANSFORMATIONS}
    if any(steps.values()):
        vectors = transform(vectors, **steps, random_seed=args.random_seed, weights=weights)
    write_vectors(args.target, vectors, progress=not args.quiet)
    _report(args.target, vectors)


def _from_checkpoint(args: argparse.Namespace, wanted: list[str] | None) -> WordVectors:
    from fairseq_xl.vectors.formats.output_layer import read_output_layer

    if wanted is None:
        raise InputError("a checkpoint's vectors need its target dictionary: give --dict")
    vectors = read_output_layer(args.source, args.dict, wanted)
    if args.dim not in (None, vectors.dim):
        raise InputError(f"{args.source} holds vectors of dimension {vectors.dim}, but dimension {args.dim} is needed")
    return vectors


def _random(args: argparse.Namespace) -> None:
    from fairseq_xl.vectors.dictionary import read_dictionary, read_word_list
    from fairseq_xl.vectors.random import random_vectors
    from fairseq_xl.vectors.table import write_vectors

    words = read_dictionary(args.dict) if args.dict else filter(None, read_word_list(args.words))
    vectors = random_vectors(list(words), args.dim, args.seed)
    write_vectors(args.target, vectors, progress=not args.quiet)
    _report(args.target, vectors)


def _coverage(args: argparse.Namespace) -> int:
    from fairseq_xl.vectors.coverage import coverage
    from fairseq_xl.vectors.dictionary import read_dictionary
    from fairseq_xl.vectors.formats.fasttext import fasttext_vocabulary
    from fairseq_xl.vectors.table import read_vectors

    counts = read_dictionary(args.dict)
    vectors = read_vectors(args.vectors, words=counts, progress=not args.quiet)
    covered = coverage(counts, vectors.index)
    print(f"{args.vectors}: {covered}")
    if args.vectors.suffix == ".bin":
        covered_by_training = coverage(counts, fasttext_vocabulary(args.vectors))
        print(f"not counting those made of subwords, {covered_by_training}")
        listed, what = covered_by_training.missing, "seen too rarely in training"
    else:
        listed, what = covered.missing, "without a vector"
    shown = listed if args.show < 0 else listed[: args.show]
    if shown:
        print(f"words {what} ({len(shown)} of {len(listed)}, with their counts):")
        for word, count in shown:
            print(f"{count:10d} {word}")
    if covered.type_share < args.minimum:
        print(
            f"only {covered.type_share:.2%} of the words are covered, --minimum asks for {args.minimum:.2%}",
            file=sys.stderr,
        )
        return 1
    return 0


def _neighbours(args: argparse.Namespace) -> None:
    from fairseq_xl.vectors.dictionary import read_dictionary
    from fairseq_xl.vectors.formats.fasttext import fasttext_vocabulary
    from fairseq_xl.vectors.neighbours import neighbours
    from fairseq_xl.vectors.table import read_vectors

    wanted = None
    if args.dict:
        wanted = [*read_dictionary(args.dict), *args.words]
    elif args.vectors.suffix == ".bin" and args.vectors.is_file():
        wanted = [*fasttext_vocabulary(args.vectors), *args.words]  # unseen ones by their subwords
    vectors = read_vectors(args.vectors, words=wanted, progress=not args.quiet)
    for word, near in neighbours(vectors, args.words, args.k).items():
        print(word)
        for neighbour, cosine in near:
            print(f"{cosine:10.4f} {neighbour}")


def _report(name: object, vectors: WordVectors) -> None:
    print(f"wrote {name}: {len(vectors)} vectors of dimension {vectors.dim}", file=sys.stderr)


def _positive(text: str) -> int:
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"must be a whole number of at least 1, not {text!r}")
    return int(text)


def _share(text: str) -> float:
    try:
        number = float(text)
    except ValueError:
        number = math.nan
    if not 0 <= number <= 1:
        raise argparse.ArgumentTypeError(f"must be a number from 0 to 1, not {text!r}")
    return number
