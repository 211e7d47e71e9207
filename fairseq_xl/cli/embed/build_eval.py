"""``fairseq-xl embed build-eval``: groups of sentences with the same tags, to be held out and searched for."""

from __future__ import annotations

import argparse
import sys
from contextlib import closing
from pathlib import Path

from fairseq_xl.io.errors import InputError


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    text = "a corpus file that is tagged (prepare --until tag), or treebanks of one language (.conllu)"
    parser.add_argument("data", type=Path, nargs="+", help=text)
    text = "folder to write the tables LANG.tsv to"
    parser.add_argument("--output", "-o", type=Path, required=True, metavar="EVAL", help=text)
    text = "languages to write (default: all tagged ones of the corpus); of treebanks: their language"
    parser.add_argument("--languages", "-l", nargs="+", metavar="L", help=text)
    text = "groups to sample of each language (default: 160, the paper's number for English)"
    parser.add_argument("--groups", type=int, default=160, metavar="N", help=text)
    text = "sample at most one group in N, so that small languages keep others to train on (default: 10)"
    parser.add_argument("--one-in", type=int, default=10, metavar="N", help=text)
    text = "languages of which all groups are kept, as the paper does with Korean"
    parser.add_argument("--all", nargs="+", default=[], metavar="L", help=text)
    text = "sentences that make a group (default: 6)"
    parser.add_argument("--least", type=int, default=6, metavar="N", help=text)
    parser.add_argument("--seed", type=int, default=1, help="of the sample (default: 1)")


def run(args: argparse.Namespace) -> None:
    """Write a table for each language.

    Raises:
        InputError: numbers below 1, data that cannot be read or has no groups, languages that it has not.
    """
    from fairseq_xl.syntactic.data.groups import corpus_groups, sample, treebank_groups, write_groups
    from fairseq_xl.syntactic.tagging.tagged import kind

    for option in ("groups", "one_in", "least"):
        if (number := getattr(args, option)) < 1:
            raise InputError(f"--{option.replace('_', '-')} takes a number from 1, not {number}")
    if any(kind(path) == ".conllu" for path in args.data):
        if len(args.languages or []) != 1:
            raise InputError("treebanks are of one language: name it with --languages")
        found = {args.languages[0]: treebank_groups(args.data, args.least)}
    else:
        from fairseq_xl.syntactic.data.corpus import Corpus

        if len(args.data) != 1:
            raise InputError("give one corpus file")
        with closing(Corpus(args.data[0], must_exist=True)) as corpus:
            tagged = corpus.tagged_languages()
            for language in args.languages or []:
                if language not in tagged:
                    raise InputError(f"{corpus.path} has no tagged sentences in {language!r}: tag them with prepare")
            languages = args.languages or tagged
            found = {language: corpus_groups(corpus, language, args.least) for language in languages}
    for language in args.all:
        if language not in found:
            raise InputError(f"--all {language}: there are only groups in {', '.join(found)}, so leave it out")
    for language, groups in found.items():
        number = len(groups) if language in args.all else min(args.groups, -(-len(groups) // args.one_in))
        chosen = sample(groups, number, f"{args.seed} {language}")
        path = args.output / f"{language}.tsv"
        write_groups(path, chosen)
        sentences = sum(map(len, chosen.values()))
        print(f"{path}: {sentences} sentences in {len(chosen)} of {len(groups)} groups", file=sys.stderr)
