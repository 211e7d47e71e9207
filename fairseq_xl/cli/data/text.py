"""``fairseq-xl data STEP``: the steps between a corpus as it is published and what fairseq trains on."""

from __future__ import annotations

import argparse
import json
import math
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from fairseq_xl.cli.data import lexicon, synthetic
from fairseq_xl.io.atomic import atomic_text
from fairseq_xl.io.errors import InputError
from fairseq_xl.io.lines import count_lines
from fairseq_xl.text.unknown_words import SUBWORDS

# The steps import what they need themselves: sacremoses takes a second that --help should not.


def _tokenise(args: argparse.Namespace) -> None:
    from fairseq_xl.text import moses

    options = {"language": args.language, "escape": args.escape}
    moses.map_file(moses.tokenise, args.source, args.target, args.processes, **options)


def _truecaser(args: argparse.Namespace) -> None:
    from fairseq_xl.text import moses

    words = moses.train_truecaser(args.source, args.output)
    print(f"{args.output}: {words} words", file=sys.stderr)


def _truecase(args: argparse.Namespace) -> None:
    from fairseq_xl.text import moses

    moses.truecaser(str(args.model))  # a bad model is refused here, not in a worker process
    options = {"model": str(args.model), "keep_known": args.keep_known}
    moses.map_file(moses.truecase, args.source, args.target, args.processes, **options)


def _postprocess(args: argparse.Namespace) -> None:
    from fairseq_xl.text import moses

    options = {"language": args.language, "escape": args.escape}
    moses.map_file(moses.postprocess, args.source, args.target, args.processes, **options)


def _clean(args: argparse.Namespace) -> None:
    from fairseq_xl.text.parallel import Rules, clean

    rules = Rules(args.max_tokens, args.max_ratio, args.empty, args.long)
    source_output, target_output = args.output
    report = clean(args.source, args.target, source_output, target_output, rules)
    print(report, file=sys.stderr)
    if args.report:
        with atomic_text(args.report) as stream:
            json.dump(report.as_dict(), stream, indent=2)
            stream.write("\n")


def _campaign(args: argparse.Namespace) -> None:
    from fairseq_xl.text.campaign import read_pairs

    pairs = 0
    with atomic_text(args.output[0]) as left, atomic_text(args.output[1]) as right:
        for source, target in read_pairs(args.source, args.target):
            left.write(source + "\n")
            right.write(target + "\n")
            pairs += 1
    print(f"{pairs} pairs", file=sys.stderr)


def _tatoeba(args: argparse.Namespace) -> None:
    from fairseq_xl.text.tatoeba import read_pairs, split

    pairs = read_pairs(args.pairs, tuple(args.columns))
    parts = split(pairs, args.valid, args.test, args.seed)
    for name in ("train", "valid", "test"):
        for side, language in enumerate(args.languages):
            with atomic_text(args.output / f"{name}.{language}") as stream:
                stream.writelines(pair[side] + "\n" for pair in getattr(parts, name))
    print(parts, file=sys.stderr)


def _hypotheses(args: argparse.Namespace) -> None:
    from fairseq_xl.text import hypotheses

    for option, needed in (
        ("spelling", args.replace_unknown is not None),
        ("lexicon", args.replace_unknown == "lexicon"),
    ):
        if (getattr(args, option) is not None) != needed:
            needs = "needs" if needed else "has no use for"
            chosen = f"--replace-unknown {args.replace_unknown}" if args.replace_unknown else "it"
            raise InputError(f"text hypotheses: {chosen} {needs} --{option} FILE")
    expected = count_lines(args.like) if args.like else None
    best = hypotheses.read_hypotheses(args.source, expected)
    if args.replace_unknown:
        from fairseq_xl.text.lexicons.lexicon import read_translations

        lexicon = read_translations(args.lexicon) if args.lexicon else {}
        options = (args.spelling, lexicon, args.subwords, args.max_distance)
        best, counts = hypotheses.read_replaced(args.source, *options)
        print(counts, file=sys.stderr)
    with atomic_text(args.target) as stream:
        stream.writelines(line + "\n" for line in best)


def _train_subwords(args: argparse.Namespace) -> None:
    from fairseq_xl.text.subwords import train_subwords

    lines = train_subwords(args.source, args.output, args.size, args.kind)
    print(f"{args.output}: {args.size} {args.kind} pieces from {lines} lines", file=sys.stderr)


def _encode(args: argparse.Namespace) -> None:
    from fairseq_xl.text import moses, subwords

    subwords.processor(str(args.model))  # a bad model is refused before the text is counted
    moses.map_file(subwords.encode, args.source, args.target, model=str(args.model))


def _decode(args: argparse.Namespace) -> None:
    from fairseq_xl.text import moses, subwords

    moses.map_file(subwords.decode, args.source, args.target)


def _fetch(args: argparse.Namespace) -> None:
    from fairseq_xl.io.fetch import fetch, unpack

    fetch(args.url, args.target, args.checksum, args.otherwise)
    if args.unpack:
        unpack(args.target, args.unpack)


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the steps and their options to the parser of ``fairseq-xl data``."""
    steps = parser.add_subparsers(title="steps", metavar="STEP", required=True)

    def step(
        name: str, run: Callable[[argparse.Namespace], None], text: str, among: Any = steps
    ) -> argparse.ArgumentParser:
        sub: argparse.ArgumentParser = among.add_parser(name, help=text, description=text)
        sub.set_defaults(step=run)
        return sub

    def source_target(sub: argparse.ArgumentParser, processes: bool = True) -> None:
        sub.add_argument("source", type=Path, help="file to read (UTF-8; .gz is decompressed)")
        sub.add_argument("target", type=Path, help="file to write")
        if processes:
            text = "worker processes for long files (default: one per processor)"
            sub.add_argument("--processes", type=int, default=os.cpu_count() or 1, help=text)

    def language(sub: argparse.ArgumentParser) -> None:
        sub.add_argument("--language", "-l", required=True, help="language code, such as de")
        text = "the tokens carry HTML escapes, as Moses' own scripts write them (&apos;)"
        sub.add_argument("--escape", action="store_true", help=text)

    sub = step("tokenise", _tokenise, "split sentences into Moses tokens")
    source_target(sub)
    language(sub)

    sub = step("truecaser", _truecaser, "train a truecaser on tokenised text")
    sub.add_argument("source", type=Path, nargs="+", help="tokenised training text")
    sub.add_argument("--output", "-o", type=Path, required=True, help="model file to write")

    sub = step("truecase", _truecase, "give the tokens their most frequent case")
    source_target(sub)
    sub.add_argument("--model", "-m", type=Path, required=True, help="model file of 'truecaser'")
    text = "change only sentence starts and unseen cases, as Moses' truecase.perl does"
    sub.add_argument("--keep-known", action="store_true", help=text)

    sub = step("postprocess", _postprocess, "from tokens to plain text: detruecase, detokenise")
    source_target(sub)
    language(sub)

    text = "split tokens into subwords (SentencePiece) and join them again"
    subwords = steps.add_parser("subwords", help=text, description=text)
    parts = subwords.add_subparsers(title="steps", metavar="STEP", required=True)
    sub = step("train", _train_subwords, "learn a subword vocabulary from tokenised text", parts)
    text = "tokenised training text; the files of several languages give a joint vocabulary"
    sub.add_argument("source", type=Path, nargs="+", help=text)
    sub.add_argument("--output", "-o", type=Path, required=True, help="model file to write")
    text = "number of pieces, the unknown one included; every character of the text is one of them"
    sub.add_argument("--size", type=int, required=True, metavar="N", help=text)
    text = "bpe (default) merges frequent pairs; unigram picks pieces by likelihood"
    sub.add_argument("--kind", choices=("bpe", "unigram"), default="bpe", help=text)
    sub = step("encode", _encode, "split tokens into subwords; a token's first begins with ▁", parts)
    source_target(sub, processes=False)
    sub.add_argument("--model", "-m", type=Path, required=True, help="model file of 'train'")
    sub = step("decode", _decode, "join subwords into tokens; needs no model", parts)
    source_target(sub, processes=False)

    sub = step("clean", _clean, "check a parallel corpus and handle its unfit pairs")
    sub.add_argument("source", type=Path, help="source side")
    sub.add_argument("target", type=Path, help="target side")
    sub.add_argument("--output", "-o", type=Path, nargs=2, required=True, help="the two sides")
    text = "longest side in tokens separated by spaces; set it where memory runs out (default: 0, no limit)"
    sub.add_argument("--max-tokens", type=int, default=0, help=text)
    text = "longer side over shorter side, in tokens; 3 drops what is no translation (default: 0, no limit)"
    sub.add_argument("--max-ratio", type=float, default=0.0, help=text)
    policies = ("drop", "keep", "error")
    text = "pairs with an empty side (default: %(default)s)"
    sub.add_argument("--empty", choices=policies, default="drop", help=text)
    text = "pairs beyond --max-tokens or --max-ratio (default: %(default)s)"
    sub.add_argument("--long", choices=policies, default="drop", help=text)
    sub.add_argument("--report", type=Path, help="write the counts to this JSON file")

    sub = step("campaign", _campaign, "IWSLT campaign files (XML or train.tags) to plain text")
    sub.add_argument("--source", type=Path, nargs="+", required=True, help="source files")
    sub.add_argument("--target", type=Path, nargs="+", required=True, help="target files")
    sub.add_argument("--output", "-o", type=Path, nargs=2, required=True, help="the two sides")

    sub = step("tatoeba", _tatoeba, "cut sentence pairs into train, valid and test without a sentence in common")
    sub.add_argument("pairs", type=Path, help="file of pairs (UTF-8; .gz is decompressed)")
    text = "source and target language, for the names of the files: OUT/train.SRC …"
    sub.add_argument("--languages", nargs=2, required=True, metavar=("SRC", "TGT"), help=text)
    text = "columns of the source and of the target, from 1 (default: 2 1, as Tatoeba's files have English first)"
    sub.add_argument("--columns", type=int, nargs=2, default=[2, 1], metavar="N", help=text)
    sub.add_argument("--valid", type=int, default=2000, help="development pairs (default: 2000)")
    sub.add_argument("--test", type=int, default=2000, help="test pairs (default: 2000)")
    sub.add_argument("--seed", type=int, default=1, help="of the choice (default: 1)")
    sub.add_argument("--output", "-o", type=Path, required=True, metavar="OUT", help="folder to write")

    sub = step("hypotheses", _hypotheses, "the best translations in a fairseq-generate log, in order")
    source_target(sub, processes=False)
    text = "a file with as many lines as sentences, such as the source: checks that none is missing"
    sub.add_argument("--like", type=Path, help=text)
    text = (
        "put a word in the place of each <unk>: the source word with the most attention (attention), or its"
        " translation where --lexicon knows one (lexicon). The log must be of fairseq-generate"
        " --print-alignment soft. Say so where you report scores"
    )
    sub.add_argument("--replace-unknown", choices=("attention", "lexicon"), help=text)
    text = "for --replace-unknown: the source text that was binarised, with its unknown words spelled"
    sub.add_argument("--spelling", type=Path, metavar="FILE", help=text)
    text = "word translations, as fairseq-xl data lexicon writes them (lines, or FILE.json)"
    sub.add_argument("--lexicon", type=Path, metavar="FILE", help=text)
    text = "how the source's pieces of words are marked, where it has such (as fairseq's --post-process)"
    sub.add_argument("--subwords", choices=SUBWORDS, help=text)
    text = (
        "pass over source words further than this from where the word would stand if both languages had"
        " one order, in words (default: no limit)"
    )
    sub.add_argument("--max-distance", type=float, default=math.inf, metavar="N", help=text)

    sub = step("fetch", _fetch, "download a file (resumable), and unpack it safely")
    sub.add_argument("url", help="address")
    sub.add_argument("target", type=Path, help="file to write")
    sub.add_argument("--checksum", help="sha256:HEX or md5:HEX")
    sub.add_argument("--unpack", type=Path, metavar="DIR", help="unpack the archive there")
    sub.add_argument("--otherwise", default="", help="what to do when it fails, for the message")

    synthetic.configure(step("synthetic", synthetic.run, "generate a small parallel corpus with a grammar"))
    lexicon.configure(step("lexicon", lexicon.run, "word translations from parallel text"))


def run(args: argparse.Namespace) -> None:
    """Run the chosen step."""
    args.step(args)
