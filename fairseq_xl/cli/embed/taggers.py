"""Part-of-speech taggers: train one, test one, tag text with one, cut text as one does."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from fairseq_xl.io.atomic import atomic_text
from fairseq_xl.io.settings import argument, option
from fairseq_xl.syntactic.tagging.tagging import Tagging
from fairseq_xl.syntactic.tagging.training import Training

if TYPE_CHECKING:
    from fairseq_xl.text.conllu import Sentence

_TAGGER = "folder of train-tagger or of spaCy, spacy:PACKAGE, stanza or stanza:FOLDER, or a CoNLL-U file with gold tags"
_LANGUAGE = "language code, such as de"


@dataclass(kw_only=True)
class TrainTagger(Training):
    """Train a tagger from treebanks with spaCy's trainer."""

    output: Path = option("folder to write", alias="-o", metavar="DIR")
    test: Path | None = option(
        "measure the tagger on this gold file and write the figures to DIR/accuracy.json", None, metavar="CONLLU"
    )

    def run(self) -> None:
        from fairseq_xl.syntactic.tagging.taggers import ACCURACY
        from fairseq_xl.syntactic.tagging.training import train_tagger
        from fairseq_xl.text.conllu import read_conllu

        gold = [*read_conllu(self.test)] if self.test else []  # a broken file is found before the training
        print(json.dumps(train_tagger(self, self.output), indent=2), file=sys.stderr)
        if self.test:
            _report(str(self.output), self.language, self.test, gold, self.output / ACCURACY)


@dataclass(kw_only=True)
class TestTagger:
    """Compare a tagger's tags of raw text with gold ones."""

    treebank: Path = argument("gold tags", metavar="CONLLU")
    language: str = option(_LANGUAGE, alias="-l")
    tagger: str = option(_TAGGER, alias="-t", metavar="TAGGER")
    output: Path | None = option("write the figures to this JSON file, too", None, alias="-o", metavar="FILE")

    def run(self) -> None:
        from fairseq_xl.text.conllu import read_conllu

        _report(self.tagger, self.language, self.treebank, [*read_conllu(self.treebank)], self.output)


def _report(name: str, language: str, path: Path, gold: Sequence[Sentence], output: Path | None) -> None:
    from fairseq_xl.syntactic.tagging.taggers import accuracy, load_tagger

    tagger = load_tagger(name, language)
    found = {"language": language, "test": path.name, "tagger": tagger.fingerprint}
    text = json.dumps(found | accuracy(tagger, gold), indent=2)
    print(text)
    if output:
        with atomic_text(output) as stream:
            stream.write(text + "\n")


@dataclass(kw_only=True)
class Tag(Tagging):
    """Tag text, one sentence a line, into lines SENTENCE tab TAGS."""

    input: Path = argument("text (UTF-8; .gz is decompressed)")
    output: Path = option("file to write; it begins with the line: text tab upos", alias="-o", metavar="FILE")
    language: str = option(_LANGUAGE, alias="-l")
    tagger: str = option(_TAGGER, alias="-t", metavar="TAGGER")

    def run(self) -> None:
        from fairseq_xl.syntactic.tagging.tagging import tag_file

        lines = tag_file(self.input, self.output, self.tagger, self.language, self.cache, self.engine())
        print(f"{self.output}: {lines} sentences", file=sys.stderr)


@dataclass(kw_only=True)
class Pieces:
    """Cut text as a tagger that is trained here does, for `fairseq-xl vectors train`."""

    input: list[Path] = argument("corpora of prepare (.sqlite), treebanks (.conllu) or text")
    output: Path = option("file to write", alias="-o", metavar="FILE")
    language: str = option(_LANGUAGE, alias="-l")
    exclude: list[Path] = option(
        "sentences to leave out, as prepare takes them: text, a table with the column text (.tsv), or a treebank "
        "(.conllu)",
        [],
        metavar="FILE",
    )

    def run(self) -> None:
        from fairseq_xl.syntactic.data.filters import folded
        from fairseq_xl.syntactic.data.prepare import excluded_sentences
        from fairseq_xl.syntactic.tagging.training import blank, sentences

        nlp = blank(self.language)
        without = {folded(text) for path in self.exclude for text in excluded_sentences(path)}
        with atomic_text(self.output) as stream:
            for path in self.input:
                kept = (text for text in sentences(path, self.language) if folded(text) not in without)
                for doc in nlp.pipe(kept):
                    if pieces := [token.text for token in doc if not token.is_space]:
                        stream.write(" ".join(pieces) + "\n")
