"""``fairseq-xl corpus align-quality``: precision and recall of the aligners on gold alignments."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from fairseq_xl.io.errors import InputError
from fairseq_xl.io.lines import read_lines
from fairseq_xl.text.parallel import check_equal_counts


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the command's options."""
    parser.description = (
        "Align two texts and compare with gold alignments. Strict: a pair counts when the gold alignment has the "
        "same; lax: when it shares a line of both sides with one. Lines without a counterpart are left out."
    )
    for side in ("first", "second"):
        parser.add_argument(f"--{side}", type=Path, required=True, metavar="FILE", help="text, a line a sentence")
    parser.add_argument(
        "--gold",
        type=Path,
        required=True,
        metavar="FILE",
        help="lines like [0]:[0, 1], numbers of the first text's lines and the second's, from 0",
    )
    parser.add_argument(
        "--translation",
        type=Path,
        metavar="FILE",
        help="of the second text into the first's language, line for line: adds a row for it",
    )
    parser.add_argument(
        "--parallel",
        type=Path,
        nargs=2,
        metavar=("FIRST", "SECOND"),
        help="sentences and their translations, from which the dictionary is learned besides the texts themselves",
    )
    parser.add_argument(
        "--vecalign",
        metavar="COMMAND",
        help="adds a row for a command that prints alignments; {first} and {second} stand for the files",
    )


def run(args: argparse.Namespace) -> None:
    """Print the table.

    Raises:
        InputError: a file or command that cannot be used.
    """
    from fairseq_xl.corpus.alignment.aligner import align
    from fairseq_xl.corpus.alignment.quality import induced_translation, quality, read_gold
    from fairseq_xl.corpus.alignment.vecalign import vecalign
    from fairseq_xl.report.tables import Table

    first, second = list(read_lines(args.first)), list(read_lines(args.second))
    gold = read_gold(args.gold, (len(first), len(second)))
    if not any(map(all, gold)):
        raise InputError(f"{args.gold} holds no line with a counterpart: nothing can be found")
    ratio = sum(map(len, second)) / max(sum(map(len, first)), 1) or 1.0
    parallel = []
    if args.parallel:
        check_equal_counts(*args.parallel)
        parallel = list(zip(*map(read_lines, args.parallel), strict=True))
    translation = induced_translation(first, second, ratio, parallel)
    found = {
        "same place (paper)": [([k], [k]) for k in range(min(len(first), len(second)))],
        "dynamic, lengths": align(first, second, None, ratio),
        "dynamic, induced dictionary": align(first, second, translation, ratio),
    }
    if args.translation:
        check_equal_counts(args.second, args.translation)
        given = list(read_lines(args.translation))
        found["dynamic, translation"] = align(first, second, given, ratio)
    if args.vecalign:
        found["vecalign"] = vecalign(args.vecalign, first, second)
    headings = ["aligner", *(f"{kind} {part}" for kind in ("strict", "lax") for part in ("P", "R", "F1"))]
    table = Table(f"{sum(map(all, gold))} gold pairs", headings)
    for name, beads in found.items():
        scores = quality(beads, gold)
        cells = [
            f"{100 * value:.1f}"
            for kind in ("strict", "lax")
            for value in (scores[kind].precision, scores[kind].recall, scores[kind].f1)
        ]
        table.add(name, *cells)
    print(table.markdown())
    if len(first) != len(second):
        text = f"{len(first)} and {len(second)} lines: the paper would discard these texts before it looks at them"
        print(text, file=sys.stderr)
