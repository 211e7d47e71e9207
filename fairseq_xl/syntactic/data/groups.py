"""Groups of sentences with the same sequence of tags: the evaluation sets of the paper's section 4.1.

The authors' set was never published, so this one is made deterministically. The same sentences, tags and seed give the
same groups, whatever the order in which they were read.
"""

from __future__ import annotations

import random
from collections.abc import Iterable, Mapping, Sequence
from contextlib import closing
from pathlib import Path

from fairseq_xl.io.atomic import atomic_text
from fairseq_xl.io.errors import InputError
from fairseq_xl.syntactic.data.corpus import Corpus, fold
from fairseq_xl.syntactic.data.filters import tidy
from fairseq_xl.syntactic.tagging.tagged_text import kind
from fairseq_xl.text.conllu import read_conllu

Groups = dict[str, list[str]]
"""Tags separated by spaces -> sentences, sorted. Of sentences that differ in case or punctuation alone one is kept:
the nearest neighbour of *Stop it!* should not be *Stop it.*"""


def groups_of(sentences: Iterable[tuple[str, str]], least: int) -> Groups:
    """Args: sentences: (text, tags); least: sentences that make a group."""
    found: dict[str, dict[bytes, str]] = {}
    for text, tags in sorted(sentences):
        found.setdefault(tags, {}).setdefault(fold(text), text)
    return {tags: sorted(texts.values()) for tags, texts in sorted(found.items()) if tags and len(texts) >= least}


def corpus_groups(corpus: Corpus, language: str, least: int) -> Groups:
    """The groups among a language's tagged sentences; only the large ones are read into memory."""
    query = (
        "SELECT text, tags FROM sentence WHERE language = ? AND tags IN"
        " (SELECT tags FROM sentence WHERE language = ? GROUP BY tags HAVING COUNT(*) >= ?)"
    )
    return groups_of(corpus.db.execute(query, (language, language, least)), least)


def treebank_groups(paths: Iterable[Path], least: int) -> Groups:
    """The groups among the gold sentences of treebanks."""
    sentences = (sentence for path in paths for sentence in read_conllu(path))
    return groups_of(((tidy(sentence.text), " ".join(sentence.upos)) for sentence in sentences), least)


def read_groups(data: Sequence[Path], languages: Sequence[str], least: int) -> dict[str, Groups]:
    """The groups of each language of a corpus file, or of treebanks of one language.

    Args:
        languages: of a corpus, those to read (none: all that are tagged); of treebanks, theirs.

    Raises:
        InputError: data that cannot be read; languages that it has not, or not the one that treebanks need.
    """
    if any(kind(path) == ".conllu" for path in data):
        if len(languages) != 1:
            raise InputError("treebanks are of one language: name it with --languages")
        return {languages[0]: treebank_groups(data, least)}
    if len(data) != 1:
        raise InputError("give one corpus file")
    with closing(Corpus(data[0], must_exist=True)) as corpus:
        tagged = corpus.tagged_languages()
        if not tagged:
            raise InputError(f"{corpus.path} has no tagged sentences: tag them with prepare")
        for language in languages:
            if language not in tagged:
                raise InputError(f"{corpus.path} has no tagged sentences in {language!r}: tag them with prepare")
        return {language: corpus_groups(corpus, language, least) for language in languages or tagged}


def long_enough(groups: Mapping[str, list[str]], tags: int) -> Groups:
    """The groups of at least so many tags: of one to three there are few orders, so length alone finds them."""
    return {name: texts for name, texts in groups.items() if len(name.split()) >= tags}


def part(groups: Mapping[str, list[str]], share: float, seed: str) -> tuple[Groups, Groups]:
    """A share of the groups, drawn, and the others: settings are chosen on the one, and scores reported on the other.

    Raises:
        InputError: one of the two would have no group.
    """
    number = round(share * len(groups))
    if not 0 < number < len(groups):
        raise InputError(f"a share of {share} of {len(groups)} groups leaves one side empty: give another --dev")
    drawn = sample(groups, number, f"{seed} dev")
    return drawn, {name: texts for name, texts in groups.items() if name not in drawn}


def sample(groups: Mapping[str, list[str]], number: int, seed: str) -> Groups:
    """So many groups, each as likely as another; all of them where there are fewer.

    Raises:
        InputError: there is no group.
    """
    if not groups:
        raise InputError("no group has enough sentences: lower --least, or give more text")
    names = sorted(groups)
    chosen = random.Random(seed).sample(names, min(number, len(names)))
    return {name: groups[name] for name in sorted(chosen)}


def write_groups(path: Path, groups: Mapping[str, list[str]]) -> None:
    """A table ``text``, ``upos``."""
    with atomic_text(path) as stream:
        stream.write("text\tupos\n")
        for tags, texts in groups.items():
            stream.writelines(f"{text}\t{tags}\n" for text in texts)
