"""``fairseq-xl data fetch``, ``campaign``, ``split``, ``synthetic`` and ``clean``: where text comes from."""

from __future__ import annotations

import sys
from dataclasses import asdict, dataclass
from pathlib import Path

from fairseq_xl.io.atomic import atomic_text, atomic_texts, write_json
from fairseq_xl.io.errors import InputError
from fairseq_xl.io.settings import GREATEST_SEED, argument, option, refuse_given
from fairseq_xl.text.parallel import Rules

BOTH_SIDES = "the two sides' files"


@dataclass(kw_only=True)
class Fetch:
    """Download a file unless it is there already, and unpack it. A download that broke off goes on."""

    url: str = argument("address")
    output: Path = option("file to write", alias="-o")
    checksum: str | None = option(
        "sha256:HEX or md5:HEX of the file; one that is there already and has another stays, and is refused", None
    )
    unpack: Path | None = option(
        "unpack the archive there: a new or empty folder, or one that holds what was unpacked before and no more", None
    )
    otherwise: str = option("what to do when it fails, for the message", "")

    def run(self) -> None:
        from fairseq_xl.io.fetch import fetch, unpack

        fetch(self.url, self.output, self.checksum, self.otherwise)
        if self.unpack:
            unpack(self.output, self.unpack)


@dataclass(kw_only=True)
class Campaign:
    """Write the sentence pairs of IWSLT campaign files, XML or train.tags, as plain text."""

    source: list[Path] = option("source files")
    target: list[Path] = option("target files, in the same order")
    output: tuple[Path, Path] = option(BOTH_SIDES, alias="-o", metavar=("SRC", "TGT"))

    def run(self) -> None:
        from fairseq_xl.text.campaign import read_pairs

        pairs = 0
        with atomic_texts(*self.output) as (left, right):
            for source, target in read_pairs(self.source, self.target):
                left.write(source + "\n")
                right.write(target + "\n")
                pairs += 1
        print(f"{pairs} pairs", file=sys.stderr)


@dataclass(kw_only=True)
class Split:
    """Cut sentence pairs into train, valid and test without a sentence in common. Sets that are there already are
    taken as they are, and their pairs left out of the training text. Other pairs may share a sentence with them."""

    train: Path = argument(
        "PREFIX of PREFIX.SRC and PREFIX.TGT, or one file of pairs in columns separated by tabs; UTF-8, .gz is "
        "decompressed"
    )
    output: Path = option("folder to write train.SRC … to", alias="-o")
    languages: tuple[str, str] = option("of the two sides, for the files' names", metavar=("SRC", "TGT"))
    columns: tuple[int, int] = option(
        "of the source and of the target in a file of columns, from 1", (1, 2), low=1, metavar=("SRC", "TGT")
    )
    valid: int = option("development pairs to hold out", 2000, low=0)
    test: int = option("test pairs to hold out", 2000, low=0)
    valid_set: Path | None = option("a development set, as the training pairs are given; none is held out then", None)
    test_set: Path | None = option("a test set, in the same way", None)
    least: int = option("refuse fewer training pairs", 1, low=1)
    trust_languages: bool = option("do not look whether the sides are the wrong way round", False)
    seed: int = option("seed of the choice", 1, low=0, high=GREATEST_SEED)

    def run(self) -> None:
        """Raises: InputError: one language for both sides, columns without a file of them, what ``cut`` raises."""
        from fairseq_xl.io.folders import own_files
        from fairseq_xl.text.splits.parallel import Corpus, cut

        if len(set(self.languages)) < 2:
            raise InputError(f"--languages {' '.join(self.languages)}: both sides would have the same files: name two")
        if len(set(self.columns)) < 2:
            raise InputError(
                f"--columns {self.columns[0]} {self.columns[1]}: source and target are one column: name two"
            )
        corpora = {
            name: Corpus(path, self.languages, self.columns)
            for name, path in (("train", self.train), ("valid", self.valid_set), ("test", self.test_set))
            if path is not None
        }
        if all(corpus.sides() for corpus in corpora.values()):
            refuse_given(self, ["columns"], "is for one file of pairs, and each of these is two files")
        found = cut(corpora, self.valid, self.test, self.seed, self.least, self.trust_languages)
        with own_files(self.output, "data split") as folder:
            for name in ("train", "valid", "test"):
                for side, language in enumerate(self.languages):
                    with atomic_text(folder / f"{name}.{language}") as stream:
                        stream.writelines(pair[side] + "\n" for pair in getattr(found, name))
        print(f"{found}: {self.output}", file=sys.stderr)


@dataclass(kw_only=True)
class Synthetic:
    """Generate a small parallel corpus with a grammar: an invented language, Qelmi (qel), and its English."""

    output: Path = option("folder to write to", alias="-o")
    seed: int = option("same seed, same corpus", 1, low=0, high=GREATEST_SEED)
    train: int = option("training pairs", 4000, low=1)
    valid: int = option("validation pairs", 200, low=1)
    test: int = option("test pairs", 200, low=1)
    monolingual: int = option(
        "also write mono.en: so many English sentences for word vectors, none of them held out", 0, low=0, shown="none"
    )
    gloss: bool = option("also write *.gloss: the grammar of each source word", False)
    tags: bool = option("also write en.conllu: the English sentences with universal parts of speech", False)

    def run(self) -> None:
        from fairseq_xl.text.synthetic import generator

        corpus = generator.generate(self.seed, self.train, self.valid, self.test, self.monolingual)
        for path in generator.write(corpus, self.output, self.gloss, self.tags):
            print(path)


@dataclass(frozen=True, kw_only=True)
class CleanPairs(Rules):
    """Check a parallel corpus, write the pairs that are fit, and say how many are not, and why."""

    source: Path = argument("source side")
    target: Path = argument("target side, line by line")
    output: tuple[Path, Path] = option(BOTH_SIDES, alias="-o", metavar=("SRC", "TGT"))
    report: Path | None = option("write the counts to this JSON file", None, writes=True)

    def run(self) -> None:
        from fairseq_xl.text.parallel import clean

        report = clean(self.source, self.target, *self.output, self)
        print(report, file=sys.stderr)
        if self.report:
            write_json(self.report, asdict(report), indent=2)
