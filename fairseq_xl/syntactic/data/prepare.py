"""The steps from parallel text to training data. Each goes on where a killed call stopped, and repeats nothing."""

from __future__ import annotations

import hashlib
import json
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from fairseq_xl.io.atomic import atomic_text
from fairseq_xl.io.databases import Cache
from fairseq_xl.io.errors import InputError
from fairseq_xl.io.lines import read_lines
from fairseq_xl.io.progress import progress_bar
from fairseq_xl.io.settings import GREATEST_SEED, names_and_values, option, refuse_given
from fairseq_xl.io.tables import stream_rows
from fairseq_xl.syntactic.data.corpus import PIVOT, Corpus
from fairseq_xl.syntactic.data.directory import read_manifest
from fairseq_xl.syntactic.data.filters import FILTERS
from fairseq_xl.syntactic.data.readers import Inputs, LineAligned, LinkReader, Monolingual, TabSeparated
from fairseq_xl.syntactic.tagging.tagged_text import kind
from fairseq_xl.syntactic.tagging.taggers import load_tagger
from fairseq_xl.syntactic.tagging.tagging import Engine, Tagging, tag_sentences
from fairseq_xl.text.conllu import read_conllu
from fairseq_xl.text.languages import check_sides

_TAGS_PER_TRANSACTION = 10_000
_LOOKED_AT = 5_000
"""First lines of a file by which its languages are told apart."""
_OF_VOCABULARY = 4_000_000
"""Most sentences that SentencePiece learns from: it holds them all, a million in 0.3 GB."""


@dataclass(kw_only=True)
class Preparation(Tagging, Inputs):
    """Everything that decides what a corpus and the training data made of it hold."""

    corpus: Path | None = option(
        "file of sentences, links and tags. Several data directories can share one: what it has read and tagged is not "
        "done again. It only grows: to leave out what it has read, name a new file (default: corpus.sqlite in the data "
        "directory)",
        None,
        metavar="FILE",
    )
    trust_languages: bool = option("do not look whether the sides of a pair are the wrong way round", False)
    min_words: int = option(
        "fewest words of a sentence; in scripts without spaces two characters count as one", 3, metavar="N", low=0
    )
    filters: list[str] = option(
        "filters to apply to both sides, in this order; none for no filter", [*FILTERS], choices=[*FILTERS, "none"]
    )
    pivot: str | None = option(
        f"language whose sentences join the translations of two others, none for no such pairs (default: {PIVOT})",
        None,
        metavar="L",
    )
    pivot_most: int = option(
        "translations of one sentence into one language that pivoting joins", 10, metavar="N", low=1
    )
    tagger: list[str] = option(
        "taggers of languages: folders of train-tagger or of spaCy, spacy:PACKAGE, stanza or stanza:FOLDER, or CoNLL-U "
        "files. A language without one can be a source only",
        [],
        metavar="L=TAGGER",
    )
    exclude: list[Path] = option(
        "sentences never to train on: text (one a line), a table with the column text (.tsv), or a treebank (.conllu). "
        "Case, punctuation and spaces make no difference",
        [],
        metavar="FILE",
    )
    sources: list[str] = option("languages of the source side (default: all)", [], metavar="L")
    targets: list[str] = option("languages of the target side (default: all that have a tagger)", [], metavar="L")
    own_tags: list[str] = option(
        "languages of which every sentence is also paired with itself. The encoder then learns to predict a "
        "sentence's own tags, too. The paper has only pairs of different languages",
        [],
        metavar="L",
    )
    valid: int = option("validation pairs of each two languages, at most one in twenty", 500, metavar="N", low=0)
    vocabulary: int = option("pieces of the joint SentencePiece vocabulary", 40_000, metavar="N", low=1, high=2**31 - 1)
    like: Path | None = option(
        "take vocabulary and languages from this data directory: for fine-tuning a model that was trained on it",
        None,
        metavar="DATA",
    )
    seed: int = option("of the choices", 1, low=0, high=GREATEST_SEED)
    until: str = option(
        "stop when the text is read, or when it is tagged (for build-eval)", "all", choices=("read", "tag", "all")
    )


def prepare(settings: Preparation, output: Path) -> dict[tuple[str, str], int]:
    """Read, tag, choose, preprocess; what an earlier call has done is not done again.

    Returns:
        how many pairs of (source language, target language) passed the filters.

    Raises:
        InputError: what any of the steps refuses.
    """
    readers = settings.readers()
    taggers = names_and_values(settings.tagger, "--tagger")
    _refuse_without_effect(settings)
    if settings.until == "all":
        _check_trainable(readers, settings, output)
    if not settings.trust_languages:
        _check_languages(readers)
    with closing(Corpus(settings.corpus or output / "corpus.sqlite")) as corpus, corpus.locked():
        read(corpus, readers, [name for name in settings.filters if name != "none"], settings.min_words)
        join(corpus, settings.pivot, settings.pivot_most)
        pair_with_itself(corpus, settings.own_tags)
        if settings.until != "read":
            tag(corpus, taggers, settings.cache or corpus.path.with_name("tags.sqlite"), settings.engine())
        if settings.until == "all":
            preprocess(corpus, settings, output)
        return corpus.pair_counts()


def _refuse_without_effect(settings: Preparation) -> None:
    if settings.like:
        refuse_given(settings, ["vocabulary"], "is for a new vocabulary, and --like brings one")
    if "none" in settings.filters and len(settings.filters) > 1:
        raise InputError("--filters none stands alone: leave it out, or the others")
    if "short" not in settings.filters:
        refuse_given(settings, ["min_words"], "is for the filter short, which is not among --filters")
    if settings.pivot == "none":
        refuse_given(settings, ["pivot_most"], "is for pivoting, which --pivot none leaves out")


def _check_trainable(readers: Sequence[LinkReader], settings: Preparation, output: Path) -> None:
    from fairseq_xl.syntactic.data import preprocessed

    preprocessed.check_free(output)
    for reader in readers:
        if isinstance(reader, Monolingual) and reader.languages[0] not in settings.own_tags:
            raise InputError(
                f"{reader.name} has no translations, so it is trained on by --own-tags alone: add its language "
                "there, or leave out --monolingual"
            )


def _check_languages(readers: Sequence[LinkReader]) -> None:
    for reader in readers:
        if isinstance(reader, TabSeparated | LineAligned):
            pairs = [(link[1], link[3]) for link in islice(reader.links(0), _LOOKED_AT) if link]
            check_sides(reader.name, pairs, (reader.languages[0], reader.languages[1]))


def read(corpus: Corpus, readers: Sequence[LinkReader], filters: Sequence[str], minimum: int) -> None:
    """Fill the corpus, and say what each filter dropped, and which inputs of earlier calls it has besides.

    Raises:
        InputError: unreadable inputs, other filters than the corpus was begun with, or no pair at all.
    """
    corpus.settle("filters", [*filters, minimum])
    for reader in readers:
        counts = corpus.read(reader, minimum, filters)
        print(f"{reader.name}: " + ", ".join(f"{number} {what}" for what, number in counts.items()), file=sys.stderr)
    if readers:
        others = corpus.inputs() - {corpus.name_of(reader) for reader in readers}
        for name in sorted(others):
            print(f"{corpus.path} also holds {name}, of an earlier call", file=sys.stderr)
    if not corpus.pair_counts():
        raise InputError(f"{corpus.path} holds no pairs: give parallel text with --pairs, --parallel or --tatoeba")


def join(corpus: Corpus, pivot: str | None, most: int) -> None:
    """Link translations by way of a language, unless it is ``none``; None for the usual one, if the corpus has it.

    Raises:
        InputError: a language that the corpus has not; a corpus whose translations were linked otherwise.
    """
    if pivot == "none":
        if corpus.setting("pivot") is not None:
            raise InputError(
                f"{corpus.path} has pairs that were made by pivoting, so --pivot none comes too late: give "
                "another corpus"
            )
        return
    if pivot and not any(pivot in pair for pair in corpus.pair_counts()):
        raise InputError(f"--pivot {pivot}: {corpus.path} has no sentence in it; name one of its languages, or none")
    corpus.settle("pivot", [pivot or PIVOT, most])
    corpus.pivot(pivot or PIVOT, most)


def pair_with_itself(corpus: Corpus, languages: Sequence[str]) -> None:
    """Pair every sentence of these languages with itself.

    Raises:
        InputError: a language that the corpus has not.
    """
    known = {language for pair in corpus.pair_counts() for language in pair}
    for language in languages:
        if language not in known:
            raise InputError(
                f"--own-tags {language}: {corpus.path} has no sentence in {language!r}: give text in it with --pairs "
                "or --monolingual"
            )
        corpus.pair_with_itself(language)


def tag(corpus: Corpus, taggers: Mapping[str, str], cached: Path, engine: Engine) -> None:
    """Tag the sentences of each language with its tagger.

    Args:
        taggers: language -> name, as :func:`.taggers.load_tagger` takes it.

    Raises:
        InputError: an unusable tagger, or one for a language that the corpus has not.
    """
    known = {language for pair in corpus.pair_counts() for language in pair}
    for language in taggers:
        if language not in known:
            raise InputError(f"there is a tagger for {language!r}, but {corpus.path} has no sentence in it")
    with closing(Cache(cached, "a cache of tags")) as cache:
        for language, name in taggers.items():
            tagger = load_tagger(name, language)
            corpus.use_tagger(language, tagger.fingerprint)
            texts = (text for _, text in corpus.sentences_without_tags(language))
            found = tag_sentences(texts, name, language, tagger, cache, engine)
            rows: list[tuple[str, int]] = []
            with progress_bar(f"tags {language}", True, corpus.untagged(language), " sentences") as bar:
                # The texts are read ahead of the numbers, whose tags are written only when they have passed.
                for (number, _), tags in zip(corpus.sentences_without_tags(language), found, strict=True):
                    rows.append((tags, number))
                    if len(rows) == _TAGS_PER_TRANSACTION:
                        corpus.give_tags(rows)
                        rows.clear()
                    bar.update()
            corpus.give_tags(rows)


def preprocess(corpus: Corpus, settings: Preparation, folder: Path) -> None:
    """Write the data directory; whatever it holds of other settings or another corpus is removed first.

    Raises:
        InputError: a language that the corpus has not, a target language without tags, nothing to train on, a folder
            with others' files of the same names.
    """
    from fairseq_xl.syntactic.data import preprocessed
    from fairseq_xl.syntactic.data.selection import Selection

    preprocessed.check_free(folder)
    pairs = _pairs(corpus, settings)
    exclude = [text for path in settings.exclude for text in _excluded_from(corpus, path)]
    vocabulary = preprocessed.read_vocabulary(settings.like) if settings.like else None
    pivot = settings.pivot or PIVOT
    made_with = json.dumps(
        {
            "corpus": corpus.signature(),
            "pairs": pairs,
            "exclude": hashlib.sha256("\n".join(exclude).encode()).hexdigest(),
            "vocabulary": hashlib.sha256(vocabulary).hexdigest() if vocabulary else settings.vocabulary,
            "choices": [settings.valid, settings.seed, pivot],
        },
        indent=1,
    )
    stamp = folder / preprocessed.SETTINGS
    if not stamp.is_file() or stamp.read_text(encoding="utf-8") != made_with:
        preprocessed.clear(folder)
        with atomic_text(stamp) as stream:
            stream.write(made_with)
    selection = Selection(corpus, pairs, exclude, settings.valid, settings.seed, pivot)
    print(f"{selection.excluded} sentences of the corpus are on exclusion lists", file=sys.stderr)
    if not preprocessed.has_vocabulary(folder):
        if vocabulary:
            preprocessed.write_vocabulary(folder, vocabulary)
        else:
            preprocessed.train_vocabulary(folder, selection.training_sentences(_OF_VOCABULARY), settings.vocabulary)
    writer = preprocessed.Writer(folder, selection)
    entries = [writer.write(pair) for pair in selection.pairs]
    languages = {target for _, target in pairs}
    if settings.like:
        languages |= set(read_manifest(settings.like).languages)
    preprocessed.write_manifest(folder, languages, entries)


def _pairs(corpus: Corpus, settings: Preparation) -> list[tuple[str, str]]:
    counts, tagged = corpus.pair_counts(), corpus.tagged_languages()
    known = {language for pair in counts for language in pair}
    sources, targets = settings.sources or sorted(known), settings.targets or tagged
    own = set(settings.own_tags)
    for language in sorted({*sources, *targets, *own} - known):
        raise InputError(f"{corpus.path} has no sentence in {language!r}")
    for language in sorted({*targets, *own}):
        if language not in tagged:
            raise InputError(f"the target language {language!r} has no tags: give --tagger {language}=TAGGER")
    # Another data directory of the same corpus may have linked sentences to themselves.
    found = [
        (source, target)
        for source, target in counts
        if (source in own if source == target else source in sources and target in targets)
    ]
    if not found:
        raise InputError("no pair is left to train on: name taggers with --tagger, or other --sources and --targets")
    return found


def _excluded_from(corpus: Corpus, path: Path) -> list[str]:
    """The sentences of an exclusion list, with a warning where it does nothing."""
    found = [*excluded_sentences(path)]
    if found and not any(map(corpus.has, found)):
        print(f"warning: {path} excludes nothing: none of its {len(found)} lines is in the corpus", file=sys.stderr)
    return found


def excluded_sentences(path: Path) -> Iterator[str]:
    """The sentences of an exclusion list: a treebank, a table with the column ``text``, or lines.

    Raises:
        InputError: a file that cannot be read; a table without that column, or with a row of more or fewer columns.
    """
    if kind(path) == ".conllu":
        yield from (sentence.text for sentence in read_conllu(path))
    elif kind(path) == ".tsv":
        yield from (row.chosen[0] for row in stream_rows(path, ["text"]) if not row.names)
    else:
        yield from read_lines(path)
