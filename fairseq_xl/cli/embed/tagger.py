"""``fairseq-xl embed tagger``: train a part-of-speech tagger, test one, tag text with one."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

from fairseq_xl.io.atomic import atomic_text
from fairseq_xl.io.errors import InputError
from fairseq_xl.io.lines import read_lines

if TYPE_CHECKING:
    from fairseq_xl.text.conllu import Sentence

_NAME = (
    "a folder of 'tagger train' or of spaCy, spacy:PACKAGE, stanza or stanza:FOLDER, or a CoNLL-U file with gold tags"
)


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the steps and their options."""
    steps = parser.add_subparsers(title="steps", metavar="STEP", required=True)

    def step(name: str, run: Callable[[argparse.Namespace], None], text: str) -> argparse.ArgumentParser:
        sub = steps.add_parser(name, help=text, description=text)
        sub.set_defaults(step=run)
        sub.add_argument("--language", "-l", required=True, help="language code, such as de")
        return sub

    sub = step("train", _train, "train a tagger from treebanks with spaCy's trainer")
    text = "treebanks to train on; a file that is named twice counts twice"
    sub.add_argument("treebank", type=Path, nargs="+", metavar="CONLLU", help=text)
    sub.add_argument("--output", "-o", type=Path, required=True, metavar="DIR", help="folder to write")
    text = "treebank that chooses the best epoch (default: every tenth sentence of the others, then not trained on)"
    sub.add_argument("--valid", type=Path, nargs="+", default=[], metavar="CONLLU", help=text)
    text = "measure the tagger on this gold file and write the figures to DIR/accuracy.json"
    sub.add_argument("--test", type=Path, metavar="CONLLU", help=text)
    text = (
        "word vectors of the language, trained on text that 'tagger pieces' has cut: with a small treebank they "
        "teach the tagger words that it lacks"
    )
    sub.add_argument("--vectors", type=Path, metavar="FILE", help=text)
    text = (
        "corpus of 'prepare' whose proper names the tagger is to know: they replace those of the treebanks in a "
        "second copy of their sentences. Of use where few names make up much of the text, as in Tatoeba"
    )
    sub.add_argument("--names", type=Path, metavar="CORPUS", help=text)
    text = "most passes over the treebanks; training ends when three bring nothing (default: 20)"
    sub.add_argument("--epochs", type=int, default=20, help=text)
    sub.add_argument("--seed", type=int, default=1, help="of start values and order (default: 1)")

    sub = step("test", _test, "compare a tagger's tags of raw text with gold ones")
    sub.add_argument("treebank", type=Path, metavar="CONLLU", help="gold tags")
    sub.add_argument("--tagger", "-t", required=True, help=_NAME)
    sub.add_argument("--output", "-o", type=Path, metavar="FILE", help="write the figures to this JSON file, too")

    sub = step("tag", _tag, "tag text, one sentence a line, into lines SENTENCE tab TAGS")
    sub.add_argument("source", type=Path, help="text (UTF-8; .gz is decompressed)")
    sub.add_argument("target", type=Path, help="file to write; it begins with the line: text tab upos")
    sub.add_argument("--tagger", "-t", required=True, help=_NAME)
    text = "keep tags in this file and take from it what was tagged before"
    sub.add_argument("--cache", type=Path, metavar="FILE", help=text)
    sub.add_argument("--processes", type=int, default=1, help="that tag at the same time (default: 1)")
    text = "spread over the machines of a running Ray cluster (pip install 'fairseq_xl[ray]')"
    sub.add_argument("--ray", action="store_true", help=text)

    sub = step("pieces", _pieces, "cut text as a tagger that is trained here does, for `fairseq-xl vectors train`")
    sub.add_argument("source", type=Path, nargs="+", help="corpora of prepare (.sqlite), treebanks (.conllu) or text")
    sub.add_argument("--output", "-o", type=Path, required=True, metavar="FILE", help="file to write")


def run(args: argparse.Namespace) -> None:
    """Run the chosen step."""
    args.step(args)


def _train(args: argparse.Namespace) -> None:
    from fairseq_xl.syntactic.tagging.taggers import ACCURACY
    from fairseq_xl.syntactic.tagging.training import Training, train_tagger
    from fairseq_xl.text.conllu import read_conllu

    if args.epochs < 1:
        raise InputError(f"--epochs takes a number from 1, not {args.epochs}")
    gold = [*read_conllu(args.test)] if args.test else []  # a broken file is found before the training
    how = Training(args.language, args.treebank, args.valid, args.vectors, args.names, args.epochs, args.seed)
    about = train_tagger(how, args.output)
    print(json.dumps(about, indent=2), file=sys.stderr)
    if gold:
        _report(str(args.output), args.language, args.test, gold, args.output / ACCURACY)


def _test(args: argparse.Namespace) -> None:
    from fairseq_xl.text.conllu import read_conllu

    _report(args.tagger, args.language, args.treebank, [*read_conllu(args.treebank)], args.output)


def _report(name: str, language: str, path: Path, gold: list[Sentence], output: Path | None) -> None:
    from fairseq_xl.syntactic.tagging.accuracy import accuracy
    from fairseq_xl.syntactic.tagging.taggers import load_tagger

    tagger = load_tagger(name, language)
    found = {"language": language, "test": path.name, "tagger": tagger.fingerprint}
    text = json.dumps(found | accuracy(tagger, gold).as_dict(), indent=2)
    print(text)
    if output:
        with atomic_text(output) as stream:
            stream.write(text + "\n")


def _tag(args: argparse.Namespace) -> None:
    from fairseq_xl.syntactic.tagging.tagging import over_processes, over_ray, tag_file

    engine = over_ray() if args.ray else over_processes(args.processes)
    lines = tag_file(args.source, args.target, args.tagger, args.language, args.cache, engine)
    print(f"{args.target}: {lines} sentences", file=sys.stderr)


def _pieces(args: argparse.Namespace) -> None:
    from fairseq_xl.syntactic.tagging.training import blank

    nlp = blank(args.language)
    with atomic_text(args.output) as stream:
        for path in args.source:
            for doc in nlp.pipe(_sentences(path, args.language)):
                if pieces := [token.text for token in doc if not token.is_space]:
                    stream.write(" ".join(pieces) + "\n")


def _sentences(path: Path, language: str) -> Iterator[str]:
    """Of a corpus those of the language, of a treebank all, and the lines of any other file."""
    from fairseq_xl.syntactic.data.corpus import Corpus
    from fairseq_xl.syntactic.tagging.tagged import kind
    from fairseq_xl.text.conllu import read_conllu

    if path.suffix == ".sqlite":
        with closing(Corpus(path, must_exist=True)) as corpus:
            yield from corpus.sentences(language)
    elif kind(path) == ".conllu":
        yield from (sentence.text for sentence in read_conllu(path))
    else:
        yield from read_lines(path)
