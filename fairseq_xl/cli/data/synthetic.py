"""``fairseq-xl data synthetic OUT``: write the generated corpus of :mod:`fairseq_xl.text.synthetic.generator`."""

from __future__ import annotations

import argparse
from pathlib import Path

from fairseq_xl.io.errors import InputError
from fairseq_xl.text.synthetic import generator as synthetic


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("out", type=Path, metavar="OUT", help="folder to write to")
    parser.add_argument("--seed", type=int, default=1, help="same seed, same corpus (default: 1)")
    parser.add_argument("--train", type=int, default=4000, help="training pairs (default: 4000)")
    parser.add_argument("--valid", type=int, default=200, help="validation pairs (default: 200)")
    parser.add_argument("--test", type=int, default=200, help="test pairs (default: 200)")
    parser.add_argument(
        "--monolingual",
        type=int,
        default=0,
        metavar="N",
        help="also write mono.en: N English sentences for word vectors, none of them held out",
    )
    parser.add_argument("--gloss", action="store_true", help="also write *.gloss: the grammar of each source word")


def run(args: argparse.Namespace) -> None:
    for name in ("train", "valid", "test", "monolingual"):
        least = 0 if name == "monolingual" else 1
        if getattr(args, name) < least:
            raise InputError(f"--{name} is {getattr(args, name)}; it must be at least {least}")
    corpus = synthetic.generate(args.seed, args.train, args.valid, args.test, args.monolingual)
    for path in synthetic.write(corpus, args.out, args.gloss):
        print(path)
