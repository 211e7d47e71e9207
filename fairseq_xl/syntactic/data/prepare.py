"""The steps from parallel text to training data. Each goes on where a killed call stopped, and repeats nothing."""

from __future__ import annotations

import hashlib
import json
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from fairseq_xl.io.atomic import atomic_text
from fairseq_xl.io.errors import InputError
from fairseq_xl.io.lines import read_lines
from fairseq_xl.io.progress import progress_bar
from fairseq_xl.syntactic.data.corpus import PIVOT, Corpus
from fairseq_xl.syntactic.data.prepared import read_manifest
from fairseq_xl.syntactic.data.readers import LinkReader
from fairseq_xl.syntactic.tagging.tagged import kind
from fairseq_xl.syntactic.tagging.taggers import load_tagger
from fairseq_xl.syntactic.tagging.tagging import Engine, TagCache, tag_sentences
from fairseq_xl.text.conllu import read_conllu

_TAGS_PER_TRANSACTION = 10_000
_OF_VOCABULARY = 4_000_000
"""Most sentences that SentencePiece learns from: it holds them all, a million in 0.3 GB."""


def read(corpus: Corpus, readers: Sequence[LinkReader], filters: Sequence[str], minimum: int) -> None:
    """Fill the corpus, and say what each filter dropped.

    Raises:
        InputError: unreadable inputs, other filters than the corpus was begun with, or no pair at all.
    """
    corpus.settle("filters", [*filters, minimum])
    for reader in readers:
        counts = corpus.read(reader, minimum, filters)
        print(f"{reader.name}: " + ", ".join(f"{number} {what}" for what, number in counts.items()), file=sys.stderr)
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
    with closing(TagCache(cached)) as cache:
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


@dataclass(frozen=True)
class Choice:
    """What of a corpus becomes training data.

    Attributes:
        sources, targets: languages; None for all, and for all that are tagged.
        exclude: files of sentences that must not be trained on.
        like: a prepared folder whose vocabulary and languages are taken.
    """

    sources: Sequence[str] | None
    targets: Sequence[str] | None
    exclude: Sequence[Path]
    pivot: str
    valid: int
    vocabulary: int
    like: Path | None
    seed: int


def binarise(corpus: Corpus, choice: Choice, folder: Path) -> None:
    """Write the prepared folder; whatever it holds of other settings or another corpus is removed first.

    Raises:
        InputError: a language that the corpus has not, a target language without tags, nothing to train on, a folder
            with others' files of the same names.
    """
    from fairseq_xl.syntactic.data import binarised
    from fairseq_xl.syntactic.data.selection import Selection

    binarised.check_free(folder)
    pairs = _pairs(corpus, choice)
    exclude = [text for path in choice.exclude for text in _excluded_from(corpus, path)]
    vocabulary = binarised.read_vocabulary(choice.like) if choice.like else None
    settings = json.dumps(
        {
            "corpus": corpus.signature(),
            "pairs": pairs,
            "exclude": hashlib.sha256("\n".join(exclude).encode()).hexdigest(),
            "vocabulary": hashlib.sha256(vocabulary).hexdigest() if vocabulary else choice.vocabulary,
            "choices": [choice.valid, choice.seed, choice.pivot],
        },
        indent=1,
    )
    stamp = folder / binarised.SETTINGS
    if not stamp.is_file() or stamp.read_text(encoding="utf-8") != settings:
        binarised.clear(folder)
        with atomic_text(stamp) as stream:
            stream.write(settings)
    selection = Selection(corpus, pairs, exclude, choice.valid, choice.seed, choice.pivot)
    print(f"{selection.excluded} sentences of the corpus are on exclusion lists", file=sys.stderr)
    if not binarised.has_vocabulary(folder):
        if vocabulary:
            binarised.write_vocabulary(folder, vocabulary)
        else:
            binarised.train_vocabulary(folder, selection.training_sentences(_OF_VOCABULARY), choice.vocabulary)
    writer = binarised.Writer(folder, selection)
    entries = [writer.write(pair) for pair in selection.pairs]
    languages = {target for _, target in pairs}
    if choice.like:
        languages |= set(read_manifest(choice.like).languages)
    binarised.write_manifest(folder, languages, entries)


def _pairs(corpus: Corpus, choice: Choice) -> list[tuple[str, str]]:
    counts, tagged = corpus.pair_counts(), corpus.tagged_languages()
    known = {language for pair in counts for language in pair}
    sources, targets = choice.sources or sorted(known), choice.targets or tagged
    for language in {*sources, *targets} - known:
        raise InputError(f"{corpus.path} has no sentence in {language!r}")
    for language in targets:
        if language not in tagged:
            raise InputError(f"the target language {language!r} has no tags: give --tagger {language}=TAGGER")
    found = [(source, target) for source, target in counts if source in sources and target in targets]
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
        InputError: a file that cannot be read; a table without that column, or a row that ends before it.
    """
    if kind(path) == ".conllu":
        yield from (sentence.text for sentence in read_conllu(path))
    elif kind(path) == ".tsv":
        lines = read_lines(path)
        columns = next(lines, "").split("\t")
        if "text" not in columns:
            raise InputError(f"{path}, line 1: no column is named text")
        place = columns.index("text")
        for number, line in enumerate(lines, start=2):
            cells = line.split("\t")
            if len(cells) <= place:
                raise InputError(f"{path}, line {number}: no column text, for there are only {len(cells)}: mend it")
            yield cells[place]
    else:
        yield from read_lines(path)
