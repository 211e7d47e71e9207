"""``fairseq-xl syntactic prepare``: from parallel text to what `fairseq-train --task upos_translation` reads."""

from __future__ import annotations

import argparse
import hashlib
import json
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

from fairseq_xl.errors import InputError
from fairseq_xl.syntactic.corpus import Corpus
from fairseq_xl.syntactic.filters import FILTERS
from fairseq_xl.syntactic.readers import LineAligned, LinkReader, TabSeparated, TatoebaExport
from fairseq_xl.syntactic.statistics_command import pair_table
from fairseq_xl.text.conllu import read_conllu
from fairseq_xl.text.lines import read_lines
from fairseq_xl.vectors.progress import progress_bar

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
    text = "languages of the Tatoeba export, such as en de zh"
    inputs.add_argument("--languages", nargs="+", default=[], metavar="L", help=text)

    group = parser.add_argument_group("what is fit")
    text = "fewest words of a sentence (default: 3); in scripts without spaces two characters count as one"
    group.add_argument("--min-words", type=int, default=3, metavar="N", help=text)
    text = "filters to apply to both sides, in this order (default: all of them); none for no filter"
    choices = [*FILTERS, "none"]
    group.add_argument("--filters", nargs="+", choices=choices, default=list(FILTERS), metavar="FILTER", help=text)
    text = (
        "sentences never to train on: text (one a line), a table with the column text (.tsv), or a treebank (.conllu). "
        "Case, punctuation and spaces make no difference"
    )
    group.add_argument("--exclude", type=Path, nargs="+", default=[], metavar="FILE", help=text)
    text = "language whose sentences join the translations of two others; none for only the pairs that were read (default: en)"
    group.add_argument("--pivot", default="en", metavar="L", help=text)
    text = "translations of one sentence into one language that pivoting joins (default: 10)"
    group.add_argument("--pivot-most", type=int, default=10, metavar="N", help=text)

    group = parser.add_argument_group("tags")
    text = (
        "tagger of a language: a folder of `tagger train` or of spaCy, spacy:PACKAGE, stanza or stanza:FOLDER, or a "
        "CoNLL-U file. A language without one can be a source, and a target only of --kind pieces"
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
    text = "use at most N training pairs of each two languages, chosen by the seed (default: 0, all)"
    group.add_argument("--most", type=int, default=0, metavar="N", help=text)
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
    readers = _readers(args)
    taggers = dict(_named(word, "--tagger") for word in args.tagger)
    with closing(Corpus(args.corpus or args.output / "corpus.sqlite")) as corpus:
        _read(corpus, readers, args)
        if args.until == "read":
            return
        _tag(corpus, taggers, args)
        print(pair_table(corpus.pair_counts()))
        if args.until == "all":
            _binarise(corpus, args)


def _named(word: str, option: str) -> tuple[str, str]:
    name, equals, value = word.partition("=")
    if not (name and equals and value):
        raise InputError(f"{option} {word}: give NAME=VALUE")
    return name, value


def _readers(args: argparse.Namespace) -> list[LinkReader]:
    found: list[LinkReader] = []

    def languages_and_value(word: str, option: str) -> tuple[tuple[str, str], str]:
        name, value = _named(word, option)
        languages = tuple(name.split("-"))
        if len(set(languages)) != 2 or not all(languages):
            raise InputError(f"{option} {word}: {name!r} does not name two languages, as en-de does")
        return languages, value

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
        if len(set(args.languages)) < 2:
            raise InputError("--tatoeba needs --languages, two or more")
        found.append(TatoebaExport(tuple(args.tatoeba), tuple(sorted(set(args.languages)))))
    return found


def _read(corpus: Corpus, readers: list[LinkReader], args: argparse.Namespace) -> None:
    filters = [name for name in args.filters if name != "none"]
    corpus.settle("filters", [*filters, args.min_words])
    for reader in readers:
        counts = corpus.read(reader, args.min_words, filters)
        print(f"{reader.name}: " + ", ".join(f"{number} {what}" for what, number in counts.items()), file=sys.stderr)
    if not corpus.pair_counts():
        raise InputError(f"{corpus.path} holds no pairs: give parallel text with --pairs, --parallel or --tatoeba")
    if args.pivot != "none":
        corpus.settle("pivot", [args.pivot, args.pivot_most])
        corpus.pivot(args.pivot, args.pivot_most)


def _tag(corpus: Corpus, taggers: dict[str, str], args: argparse.Namespace) -> None:
    from fairseq_xl.syntactic.taggers import load_tagger
    from fairseq_xl.syntactic.tagging import TagCache, over_processes, over_ray, tag_sentences

    engine = over_ray() if args.ray else over_processes(args.processes)
    with closing(TagCache(args.cache or corpus.path.with_name("tags.sqlite"))) as known:
        for language, name in taggers.items():
            tagger = load_tagger(name, language)
            corpus.use_tagger(language, tagger.fingerprint)
            with progress_bar(f"tags {language}", True, corpus.untagged(language), " sentences") as bar:
                texts = (text for _, text in corpus.sentences_without_tags(language))
                found = tag_sentences(texts, name, language, tagger, known, engine)
                rows: list[tuple[str, int]] = []
                for (number, _), tags in zip(corpus.sentences_without_tags(language), found, strict=True):
                    rows.append((tags, number))
                    if len(rows) == 10_000:
                        corpus.give_tags(rows)
                        rows.clear()
                    bar.update()
                corpus.give_tags(rows)


def _binarise(corpus: Corpus, args: argparse.Namespace) -> None:
    from fairseq_xl.syntactic import binarise
    from fairseq_xl.syntactic.selection import Selection

    tagged = corpus.tagged_languages()
    counts = corpus.pair_counts()
    sources = set(args.sources or (source for source, _ in counts))
    targets = set(args.targets or tagged)
    pairs = [(source, target) for source, target in counts if source in sources and target in targets]
    for language in sorted((sources | targets) - {language for pair in counts for language in pair}):
        raise InputError(f"{corpus.path} has no sentence in {language!r}")
    if not pairs:
        raise InputError("no pair is left to train on: name taggers with --tagger, or --sources and --targets")
    digest = _settings(corpus, pairs, args)
    folder = args.output
    stamp = folder / "settings.json"
    if not stamp.is_file() or stamp.read_text(encoding="utf-8") != digest:
        for path in folder.glob("*"):
            if path.name.startswith(("train.", "valid.", "dict.", ".")) or path.name in (
                binarise.MODEL, binarise.MANIFEST, "settings.json",
            ):  # fmt: skip
                path.unlink()
        folder.mkdir(parents=True, exist_ok=True)
        stamp.write_text(digest, encoding="utf-8")
    exclude = [text for path in args.exclude for text in _sentences(path)]
    selection = Selection(corpus, pairs, exclude, args.valid, args.seed, args.pivot, args.most)
    print(f"{selection.excluded} sentences of the corpus are on exclusion lists", file=sys.stderr)
    if not (folder / binarise.UPOS_DICTIONARY).is_file():
        if args.like:
            binarise.take_vocabulary(folder, args.like)
        else:
            binarise.write_vocabulary(folder, selection.training_sentences(), args.vocabulary)
    writer = binarise.Binariser(folder, selection, tagged)
    entries = [writer.write(pair) for pair in selection.pairs]
    languages = {target for _, target in pairs}
    if args.like:
        languages |= set(json.loads((args.like / binarise.MANIFEST).read_text(encoding="utf-8"))["languages"])
    binarise.write_manifest(folder, languages, entries)


def _settings(corpus: Corpus, pairs: list[tuple[str, str]], args: argparse.Namespace) -> str:
    """What the binarised data follow from, as text."""
    files = [*args.exclude, *([args.like / "dict.source.txt"] if args.like else [])]
    return json.dumps(
        {
            "corpus": corpus.db.execute("SELECT name, content FROM input ORDER BY name").fetchall()
            + corpus.db.execute("SELECT name, value FROM setting ORDER BY name").fetchall(),
            "pairs": pairs,
            "files": [hashlib.sha256(path.read_bytes()).hexdigest() for path in files],
            "choices": [args.most, args.valid, args.vocabulary, args.seed],
        }
    )


def _sentences(path: Path) -> Iterator[str]:
    """The sentences of an exclusion list."""
    if path.suffix == ".conllu":
        yield from (sentence.text for sentence in read_conllu(path))
    elif path.suffix == ".tsv":
        lines = read_lines(path)
        columns = next(lines, "").split("\t")
        if "text" not in columns:
            raise InputError(f"{path}, line 1: no column is named text")
        yield from (line.split("\t")[columns.index("text")] for line in lines)
    else:
        yield from read_lines(path)
