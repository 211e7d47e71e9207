"""``fairseq-xl data lexicon``: word translations from parallel text."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

import numpy as np

from fairseq_xl.io.errors import InputError


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the options of ``fairseq-xl data lexicon``."""
    parser.description = (
        "Find out which words translate each other, from tokenised parallel text. Words are aligned by IBM"
        " model 1; any aligner's output in Pharaoh's format (fast_align, eflomal, awesome-align …) can be"
        " counted instead. The file serves `text hypotheses --replace-unknown lexicon` and fairseq-generate's"
        " --replace-unk (with --best 1, since fairseq takes the last line of a word)."
    )
    parser.add_argument("source", type=Path, help="tokenised text, as the model's training data")
    parser.add_argument("target", type=Path, help="its translation, line by line")
    text = "file to write: lines of source word, target word and probability, best first"
    parser.add_argument("--output", "-o", type=Path, required=True, help=text + "; or FILE.json")
    text = "write JSON, {word: [[translation, probability], …]}, whatever the file is called"
    parser.add_argument("--json", action="store_true", help=text)
    text = "an aligner's output: in line n the links i-j of sentence n, positions from 0, source first"
    parser.add_argument("--alignments", type=Path, metavar="FILE", help=text)
    text = "at most so many translations of a word; 1 is enough for translate --replace-unk (default: %(default)s)"
    parser.add_argument("--best", type=int, default=5, metavar="N", help=text)
    text = (
        "leave out translations below this probability (default: %(default)s); raise it for fewer and"
        " surer entries: of words seen once in 29,000 captions, two fifths of the best translations were in"
        " held-out references at 0.1, three fifths of half as many at 0.3"
    )
    parser.add_argument("--min-probability", type=float, default=0.1, metavar="P", help=text)
    text = "leave out source words with fewer occurrences, whose links are chance (default: %(default)s)"
    parser.add_argument("--min-count", type=int, default=1, metavar="N", help=text)
    text = "iterations of expectation-maximisation; more sharpen the probabilities a little (default: %(default)s)"
    parser.add_argument("--iterations", type=int, default=5, metavar="N", help=text)
    text = (
        "never link words that seldom meet: least Dice coefficient of the sentences that hold them"
        " (default: %(default)s); raise it where memory runs out"
    )
    parser.add_argument("--min-dice", type=float, default=0.001, metavar="D", help=text)


def run(args: argparse.Namespace) -> None:
    """Write the lexicon."""
    from fairseq_xl.text.lexicons import ibm1 as alignment
    from fairseq_xl.text.lexicons.bitext import read_bitext
    from fairseq_xl.text.lexicons.lexicon import make_lexicon, write_lexicon

    for option in ("best", "iterations", "min_count"):
        if getattr(args, option) < 1:
            raise InputError(f"--{option.replace('_', '-')} is {getattr(args, option)}: give 1 or more")
    bitext = read_bitext(args.source, args.target)
    alone: np.ndarray | int = 0
    if args.alignments:
        counts, alone = alignment.given_links(bitext, args.alignments)
    else:
        pairs = alignment.candidates(bitext, args.min_dice)
        counts = alignment.expected_links(bitext, pairs, args.iterations)
    totals = np.asarray(counts.sum(1)).ravel() + alone
    lexicon = make_lexicon(bitext, counts, totals, args.min_probability, args.min_count, args.best)
    write_lexicon(lexicon, args.output, args.json or args.output.suffix == ".json")
    entries = sum(map(len, lexicon.values()))
    print(
        f"{args.output}: {entries} translations of {len(lexicon)} of {len(bitext.source.words)} words", file=sys.stderr
    )
