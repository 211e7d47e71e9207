"""Sentences of one language with their tags, from an evaluation file or a treebank."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from fairseq_xl.io.errors import InputError
from fairseq_xl.io.tables import stream_rows
from fairseq_xl.text.conllu import read_conllu, universal


def kind(path: Path) -> str:
    """The ending that says what a file holds, with its dot: ``.conllu`` also for ``x.conllu.gz``."""
    return Path(path.name.removesuffix(".gz")).suffix


@dataclass(frozen=True)
class TaggedText:
    """N sentences.

    Attributes:
        source: the file that they are from.
        language: its code.
        texts: (N) as written.
        upos: (N) tag sequences.
        numbers: (N) equal for translations of each other; empty where there are none.
    """

    source: Path
    language: str
    texts: list[str]
    upos: list[tuple[str, ...]]
    numbers: list[str]

    def __len__(self) -> int:
        return len(self.texts)

    @property
    def name(self) -> str:
        """The file's, without its ending."""
        return Path(self.source.name.removesuffix(".gz")).stem


def read_evaluation_file(path: Path) -> TaggedText:
    """``LANG.tsv`` as ``fairseq-xl embed build-eval`` writes it; the file's name gives the language.

    Raises:
        InputError: no such file, one without these columns, uneven rows, a row without tags, an unknown tag, no rows.
    """
    texts, tags = [], []
    for row in stream_rows(path, ["text", "upos"]):
        if row.names:
            continue
        text, upos = row.chosen
        if not upos.split():
            raise InputError(f"{path}, line {row.number}: the sentence has no tags: leave the line out")
        texts.append(text)
        tags.append(tuple(universal(tag, f"{path}, line {row.number}") for tag in upos.split()))
    if not texts:
        raise InputError(f"{path} holds no sentence: build it with fairseq-xl embed build-eval")
    return TaggedText(path, Path(path.name.removesuffix(".gz")).stem, texts, tags, [])


def read_sets(paths: Iterable[Path]) -> list[TaggedText]:
    """Evaluation files; a folder stands for those in it, by name.

    Raises:
        InputError: a folder without any, or what reading one raises.
    """
    files: list[Path] = []
    for path in paths:
        inside = sorted(path.glob("*.tsv")) if path.is_dir() else [path]
        if not inside:
            raise InputError(f"the folder {path} holds no .tsv file: build one with fairseq-xl embed build-eval")
        files += inside
    return [read_evaluation_file(path) for path in files]


def read_treebank(path: Path, language: str) -> TaggedText:
    """A CoNLL-U file with gold tags; parallel treebanks such as PUD number their sentences alike.

    Raises:
        InputError: see :func:`fairseq_xl.text.conllu.read_conllu`; the same ``sent_id`` twice.
    """
    sentences = list(read_conllu(path))
    numbers = [sentence.sent_id for sentence in sentences]
    if not all(numbers):
        numbers = []
    elif len(set(numbers)) < len(numbers):
        repeated = next(number for number in numbers if numbers.count(number) > 1)
        raise InputError(f"{path} has two sentences with sent_id {repeated!r}: remove one")
    texts = [sentence.text for sentence in sentences]
    return TaggedText(path, language, texts, [sentence.upos for sentence in sentences], numbers)
