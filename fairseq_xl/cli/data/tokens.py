"""``fairseq-xl data tokenize`` and its like: from sentences to the tokens of a model, and back."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from fairseq_xl.io.settings import argument, option
from fairseq_xl.text.subwords import KINDS

# The commands import what they need themselves: sacremoses takes a second that --help should not.


@dataclass(kw_only=True)
class _Step:
    """From a file to a file, line by line."""

    source: Path = argument("file to read (UTF-8; .gz is decompressed)")
    output: Path = option("file to write", alias="-o")

    def _map(self, step: Callable[..., str], **options: object) -> None:
        from fairseq_xl.text.moses import map_file

        map_file(step, self.source, self.output, getattr(self, "processes", 1), **options)


@dataclass(kw_only=True)
class _Parallel(_Step):
    """By several processes where the file is long."""

    processes: int = option(
        "worker processes for long files", os.cpu_count() or 1, low=1, high=1024, shown="one per processor"
    )


@dataclass(kw_only=True)
class _OfLanguage(_Parallel):
    """By the rules of a language."""

    language: str = option("language code, such as de", alias="-l")
    escape: bool = option("the tokens carry HTML escapes, as Moses' own scripts write them (&apos;)", False)


@dataclass(kw_only=True)
class Tokenize(_OfLanguage):
    """Split sentences into Moses tokens."""

    def run(self) -> None:
        from fairseq_xl.text import moses

        self._map(moses.tokenize, language=self.language, escape=self.escape)


@dataclass(kw_only=True)
class Postprocess(_OfLanguage):
    """From tokens to plain text: detruecase, detokenise."""

    def run(self) -> None:
        from fairseq_xl.text import moses

        self._map(moses.postprocess, language=self.language, escape=self.escape)


@dataclass(kw_only=True)
class TrainTruecaser:
    """Train a truecaser on tokenised text."""

    source: list[Path] = argument("tokenised training text")
    output: Path = option("model file to write", alias="-o")

    def run(self) -> None:
        from fairseq_xl.text import moses

        words = moses.train_truecaser(self.source, self.output)
        print(f"{self.output}: {words} words", file=sys.stderr)


@dataclass(kw_only=True)
class Truecase(_Parallel):
    """Give the tokens their most frequent case."""

    model: Path = option("model file of `data train-truecaser`", alias="-m")
    keep_known: bool = option("change only sentence starts and unseen cases, as Moses' truecase.perl does", False)

    def run(self) -> None:
        from fairseq_xl.text import moses

        moses.truecaser(str(self.model))  # a bad model is refused here, not in a worker process
        self._map(moses.truecase, model=str(self.model), keep_known=self.keep_known)


@dataclass(kw_only=True)
class TrainSubwords:
    """Learn a subword vocabulary (SentencePiece) from tokenised text."""

    source: list[Path] = argument("tokenised training text; the files of several languages give a joint vocabulary")
    output: Path = option("model file to write", alias="-o")
    size: int = option(
        "number of pieces, the unknown one included; every character of the text is one of them", low=1, high=2**31 - 1
    )
    kind: str = option("bpe merges frequent pairs; unigram picks pieces by likelihood", "bpe", choices=KINDS)

    def run(self) -> None:
        from fairseq_xl.text.subwords import train_subwords

        lines = train_subwords(self.source, self.output, self.size, self.kind)
        print(f"{self.output}: {self.size} {self.kind} pieces from {lines} lines", file=sys.stderr)


@dataclass(kw_only=True)
class EncodeSubwords(_Step):
    """Split tokens into subwords; a token's first begins with ▁."""

    model: Path = option("model file of `data train-subwords`", alias="-m")

    def run(self) -> None:
        from fairseq_xl.text import subwords

        subwords.processor(str(self.model))  # a bad model is refused before the text is counted
        self._map(subwords.encode, model=str(self.model))


@dataclass(kw_only=True)
class DecodeSubwords(_Step):
    """Join subwords into tokens; needs no model."""

    def run(self) -> None:
        from fairseq_xl.text import subwords

        self._map(subwords.decode)
