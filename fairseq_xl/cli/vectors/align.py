"""``fairseq-xl vectors align``: two languages' vectors in one space, as MUSE's are."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from fairseq_xl.io.errors import InputError

if TYPE_CHECKING:
    from fairseq_xl.vectors.table import WordVectors


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the step's options."""
    parser.description = (
        "Rotate the vectors of one language into the space of another (Procrustes with refinement) and say how well "
        "the nearest words translate. Both tables are written as unit vectors, centred: use them together."
    )
    parser.add_argument("source", type=Path, metavar="SOURCE", help="vectors to rotate, frequent words first")
    parser.add_argument("target", type=Path, metavar="TARGET", help="vectors of the space to rotate into")
    parser.add_argument(
        "--output", nargs=2, type=Path, required=True, metavar=("SOURCE.vec", "TARGET.vec"), help="files to write"
    )
    seed = parser.add_mutually_exclusive_group(required=True)
    seed.add_argument(
        "--dictionary",
        type=Path,
        metavar="FILE",
        help="seed: source word, tab or blank, target word, a pair a line; a weight after them, as in the files of "
        "`fairseq-xl data lexicon`, is passed over",
    )
    seed.add_argument(
        "--identical",
        action="store_true",
        help="seed: words that both languages write alike, such as names and numbers",
    )
    parser.add_argument(
        "--rounds",
        type=int,
        default=5,
        metavar="N",
        help="rounds of refinement (default: 5; 0: the seed alone, where it is large and sure)",
    )
    parser.add_argument(
        "--frequent",
        type=int,
        default=10_000,
        metavar="N",
        help="words of each side that refine; fewer where rare words' vectors are poor (default: 10000)",
    )
    parser.add_argument(
        "--test", type=Path, metavar="FILE", help="dictionary to measure P@1 and P@5 on, which must not be the seed's"
    )


def run(args: argparse.Namespace) -> None:
    """Align, write and measure.

    Raises:
        InputError: files that cannot be used, a seed too small, a test dictionary without known words.
    """
    from fairseq_xl.vectors.alignment.procrustes import align, centred_units
    from fairseq_xl.vectors.table import WordVectors, read_vectors, write_vectors

    if args.rounds < 0 or args.frequent < 10:
        raise InputError("--rounds is a number from 0, --frequent one from 10")
    source, target = (centred_units(read_vectors(path, progress=not args.quiet)) for path in (args.source, args.target))
    if args.identical:
        seed = [(word, word) for word in source.words if word in target.index]
    else:
        seed = read_dictionary_pairs(args.dictionary)
    matrix, pairs = align(source, target, seed, args.rounds, args.frequent)
    rotated = WordVectors(source.words, source.matrix @ matrix)
    for path, vectors in zip(args.output, (rotated, target), strict=True):
        write_vectors(path, vectors)
    print(f"{len(seed)} pairs in the seed, {len(pairs)} in the last dictionary", file=sys.stderr)
    if args.test:
        print(measured(rotated, target, read_dictionary_pairs(args.test), args.test))


def measured(source: WordVectors, target: WordVectors, pairs: list[tuple[str, str]], path: Path) -> str:
    """P@1 and P@5 by cosine and by CSLS, as a line."""
    from fairseq_xl.vectors.alignment.induction import Induction, precision

    translations: dict[int, set[int]] = {}
    for s, t in pairs:
        if s in source.index and t in target.index:
            translations.setdefault(source.index[s], set()).add(target.index[t])
    if not translations:
        raise InputError(f"{path}: no pair has vectors on both sides")
    rows = sorted(translations)
    induction = Induction(source.matrix, target.matrix)
    shares = []
    for name, csls in (("cosine", False), ("CSLS", True)):
        found = induction.best(rows, 5, csls)
        shares.append(f"{name} P@1 {precision(found, rows, translations, 1):.1%}")
        shares.append(f"P@5 {precision(found, rows, translations, 5):.1%}")
    return f"{len(rows)} of {len({s for s, _ in pairs})} words of {path.name} measured: {', '.join(shares)}"


def read_dictionary_pairs(path: Path) -> list[tuple[str, str]]:
    """Word pairs of a file in MUSE's format, or of a lexicon's, where a number may follow them.

    Raises:
        InputError: a line that is something else.
    """
    from fairseq_xl.io.lines import read_lines
    from fairseq_xl.vectors.formats.text import is_number

    pairs = []
    for number, line in enumerate(read_lines(path), start=1):
        words = line.split()
        if len(words) not in (2, 3) or (len(words) == 3 and not is_number(words[2])):
            raise InputError(f"{path}, line {number}: expected two words and perhaps a weight, found {line!r}")
        pairs.append((words[0], words[1]))
    return pairs
