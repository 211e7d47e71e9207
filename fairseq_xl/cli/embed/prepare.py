"""``fairseq-xl embed prepare``: from parallel text to what `fairseq-train --task upos_translation` reads."""

from __future__ import annotations

import argparse
from contextlib import closing
from pathlib import Path

from fairseq_xl.cli.embed.statistics import pair_table
from fairseq_xl.io.errors import InputError
from fairseq_xl.syntactic.data.corpus import PIVOT, Corpus
from fairseq_xl.syntactic.data.filters import FILTERS
from fairseq_xl.syntactic.data.readers import CODES, LineAligned, LinkReader, TabSeparated, TatoebaExport

_STAGES = ("read", "tag", "all")


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    parser.add_argument("output", type=Path, metavar="PREPARED", help="folder to write")
    text = (
        "file of sentences, links and tags (default: PREPARED/corpus.sqlite). Several folders can share one: what it "
        "has read and tagged is not done again"
    )
    parser.add_argument("--corpus", type=Path, metavar="FILE", help=text)

    inputs = parser.add_argument_group("parallel text, each option as often as needed")
    text = "tab-separated file with a column for each language, such as en-de=deu-eng.tsv"
    inputs.add_argument("--pairs", action="append", default=[], metavar="L-L=FILE", help=text)
    text = "line-aligned files: a prefix (PREFIX.de, PREFIX.en) or two names separated by a comma"
    inputs.add_argument("--parallel", action="append", default=[], metavar="L-L=PREFIX|F,F", help=text)
    text = "the same of OpenSubtitles: markup, sounds, speakers' names and leading dashes are taken off"
    inputs.add_argument("--opensubtitles", action="append", default=[], metavar="L-L=PREFIX|F,F", help=text)
    text = "lines of each OpenSubtitles pair to read (default: 1000000, as in the paper; 0 for all)"
    inputs.add_argument("--subtitles-limit", type=int, default=1_000_000, metavar="N", help=text)
    text = "Tatoeba's export, sentences.csv and links.csv; --languages says which languages are read"
    inputs.add_argument("--tatoeba", type=Path, nargs=2, metavar=("SENTENCES", "LINKS"), help=text)
    text = "languages of the Tatoeba export, such as en de zh; Tatoeba's own codes are brought to these"
    inputs.add_argument("--languages", nargs="+", default=[], metavar="L", help=text)

    group = parser.add_argument_group("what is fit")
    text = "fewest words of a sentence (default: 3); in scripts without spaces two characters count as one"
    group.add_argument("--min-words", type=int, default=3, metavar="N", help=text)
    text = "filters to apply to both sides, in this order (default: all of them); none for no filter"
    choices = [*FILTERS, "none"]
    group.add_argument("--filters", nargs="+", choices=choices, default=list(FILTERS), metavar="FILTER", help=text)
    text = (
        "sentences never to train on: text (one a line), a table with the column text (.tsv), or a treebank "
        "(.conllu). Case, punctuation and spaces make no difference"
    )
    group.add_argument("--exclude", type=Path, nargs="+", default=[], metavar="FILE", help=text)
    text = f"language whose sentences join the translations of two others; none for no such pairs (default: {PIVOT})"
    group.add_argument("--pivot", metavar="L", help=text)
    text = "translations of one sentence into one language that pivoting joins (default: 10)"
    group.add_argument("--pivot-most", type=int, default=10, metavar="N", help=text)

    group = parser.add_argument_group("tags")
    text = (
        "tagger of a language: a folder of `tagger train` or of spaCy, spacy:PACKAGE, stanza or stanza:FOLDER, or "
        "a CoNLL-U file. A language without one can be a source only"
    )
    group.add_argument("--tagger", action="append", default=[], metavar="L=TAGGER", help=text)
    text = "cache of tags by sentence (default: beside the corpus, tags.sqlite)"
    group.add_argument("--cache", type=Path, metavar="FILE", help=text)
    group.add_argument("--processes", type=int, default=1, metavar="N", help="that tag at the same time (default: 1)")
    text = "spread the tagging over the machines of a Ray cluster (pip install 'fairseq_xl[ray]')"
    group.add_argument("--ray", action="store_true", help=text)

    group = parser.add_argument_group("training data")
    text = "languages of the source side (default: all)"
    group.add_argument("--sources", nargs="+", metavar="L", help=text)
    text = "languages of the target side (default: all that have a tagger)"
    group.add_argument("--targets", nargs="+", metavar="L", help=text)
    text = "validation pairs of each two languages, at most one in twenty (default: 500)"
    group.add_argument("--valid", type=int, default=500, metavar="N", help=text)
    text = "pieces of the joint SentencePiece vocabulary (default: 40000)"
    group.add_argument("--vocabulary", type=int, default=40_000, metavar="N", help=text)
    text = "take vocabulary and languages from this prepared folder: for fine-tuning a model that was trained on it"
    group.add_argument("--like", type=Path, metavar="PREPARED", help=text)
    group.add_argument("--seed", type=int, default=1, help="of the choices (default: 1)")
    text = "stop when the text is read, or when it is tagged (for build-eval); default: all"
    group.add_argument("--until", choices=_STAGES, default="all", help=text)


def run(args: argparse.Namespace) -> None:
    """Read, tag, choose, binarise; what an earlier call has done is not done again."""
    from fairseq_xl.syntactic.data import prepare
    from fairseq_xl.syntactic.tagging.tagging import over_processes, over_ray

    readers = _readers(args)
    taggers = dict(_named(word, "--tagger") for word in args.tagger)
    filters = [name for name in args.filters if name != "none"]
    if args.until == "all":
        from fairseq_xl.syntactic.data import binarised

        binarised.check_free(args.output)
    with closing(Corpus(args.corpus or args.output / "corpus.sqlite")) as corpus, corpus.locked():
        prepare.read(corpus, readers, filters, args.min_words)
        prepare.join(corpus, args.pivot, args.pivot_most)
        if args.until != "read":
            engine = over_ray() if args.ray else over_processes(args.processes)
            prepare.tag(corpus, taggers, args.cache or corpus.path.with_name("tags.sqlite"), engine)
        print(pair_table(corpus.pair_counts()))
        if args.until == "all":
            choice = prepare.Choice(
                args.sources,
                args.targets,
                args.exclude,
                args.pivot or PIVOT,
                args.valid,
                args.vocabulary,
                args.like,
                args.seed,
            )
            prepare.binarise(corpus, choice, args.output)


def _named(word: str, option: str) -> tuple[str, str]:
    name, equals, value = word.partition("=")
    if not (name and equals and value):
        raise InputError(f"{option} {word}: give NAME=VALUE")
    return name, value


def _readers(args: argparse.Namespace) -> list[LinkReader]:
    found: list[LinkReader] = []

    def languages_and_value(word: str, option: str) -> tuple[tuple[str, str], str]:
        name, value = _named(word, option)
        languages = name.split("-")
        if len(languages) != 2 or len(set(languages)) != 2 or not all(languages):
            raise InputError(f"{option} {word}: {name!r} does not name two languages, as en-de does")
        return (languages[0], languages[1]), value

    for word in args.pairs:
        languages, value = languages_and_value(word, "--pairs")
        found.append(TabSeparated(languages, (Path(value),)))
    for option, words in (("--parallel", args.parallel), ("--opensubtitles", args.opensubtitles)):
        for word in words:
            languages, value = languages_and_value(word, option)
            files = value.split(",") if "," in value else [f"{value}.{language}" for language in languages]
            if len(files) != 2:
                raise InputError(f"{option} {word}: give a prefix or two files")
            subtitles = option == "--opensubtitles"
            limit = args.subtitles_limit if subtitles else 0
            found.append(LineAligned(languages, tuple(map(Path, files)), limit, subtitles))
    if args.tatoeba:
        codes = {CODES.get(code, code) for code in args.languages}
        if len(codes) < 2:
            raise InputError("--tatoeba needs --languages, two or more")
        found.append(TatoebaExport(tuple(args.tatoeba), tuple(sorted(codes))))
    return found
