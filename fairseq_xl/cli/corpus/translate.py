"""``fairseq-xl corpus translate``: the second language's lines into the first."""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from fairseq_xl.cli.corpus.options import add_project, run_once
from fairseq_xl.corpus.alignment.dictionary import induce
from fairseq_xl.corpus.alignment.translate import Cache, translate_lines, with_file
from fairseq_xl.corpus.alignment.translators import (
    WORD,
    CommandTranslator,
    DictionaryTranslator,
    ModelTranslator,
    Translator,
    read_dictionary,
)
from fairseq_xl.corpus.documents.document import Document, read_documents, write_documents
from fairseq_xl.corpus.documents.project import Project
from fairseq_xl.io.errors import InputError
from fairseq_xl.text.lexicons.lexicon import write_lexicon

KINDS = ("dictionary", "model", "command", "file")


@dataclass
class TranslateSettings:
    """Section ``translate`` of corpus.yaml."""

    by: str = field(
        default="dictionary",
        metadata={
            "help": "dictionary: word by word; model: one of CTranslate2; command: any program; file: your own work."
            " The better the translation, the more pairs the aligner finds"
        },
    )
    dictionary: str | None = field(
        default=None,
        metadata={
            "help": "file of the second language's word TAB the first's [TAB weight]; none: one is induced from the"
            " pages with equal numbers of lines and written as dictionary.tsv"
        },
    )
    min_probability: float = field(default=0.1, metadata={"help": "induced dictionary: leave out translations below"})
    min_count: int = field(default=2, metadata={"help": "induced dictionary: leave out words with fewer occurrences"})
    model: str | None = field(default=None, metadata={"help": "folder of a CTranslate2 model (OPUS-MT, NLLB …)"})
    source_subwords: str = field(
        default="source.spm", metadata={"help": "its SentencePiece model of the second language, relative to model"}
    )
    target_subwords: str = field(
        default="target.spm", metadata={"help": "its SentencePiece model of the first language; NLLB has one for all"}
    )
    source_token: str | None = field(
        default=None, metadata={"help": "put before each line: fra_Latn for NLLB, >>fra<< for some OPUS-MT models"}
    )
    target_token: str | None = field(default=None, metadata={"help": "what translations begin with: eng_Latn for NLLB"})
    beam: int = field(default=2, metadata={"help": "beam of the model's search"})
    device: str = field(default="cpu", metadata={"help": "cpu or cuda, for the model"})
    command: list[str] = field(
        default_factory=list,
        metadata={
            "help": "program and arguments that reads lines and writes as many: [python, my.py]; started for each"
            " batch in the folder that you are in, without a shell"
        },
    )
    file: str | None = field(
        default=None,
        metadata={"help": "translation of extract.LANG.txt of the second language, line for line, that you have made"},
    )
    batch: int = field(default=1024, metadata={"help": "lines at a time: what is lost when the step is killed"})


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    parser.description = (
        "Translate the second language's lines into the first, so that the aligner can compare words. A translation"
        " is kept by line in translations.sqlite: killed and started again, the step goes on; the same line is"
        " translated once."
    )
    add_project(parser)


def run(args: argparse.Namespace) -> None:
    """Translate unless it is done."""
    run_once(args, "translate", TranslateSettings, inputs, work)


def inputs(project: Project, settings: TranslateSettings) -> Sequence[Path]:
    """The files that the step reads, a model aside.

    Raises:
        InputError: an unknown kind, or a setting that it needs is missing.
    """
    if settings.by not in KINDS:
        raise InputError(f"translate.by is {', '.join(KINDS)}, not {settings.by!r}")
    for needed in ("model", "file"):
        if settings.by == needed and not getattr(settings, needed):
            raise InputError(f"translate.by is {needed}: set translate.{needed}")
    files = [project.folder / "extract.jsonl"]
    if settings.by == "dictionary" and settings.dictionary:
        files.append(_given(project, "dictionary", settings.dictionary))
    if settings.by == "file" and settings.file:
        files.append(_given(project, "file", settings.file))
    return files


def _given(project: Project, name: str, value: str) -> Path:
    path = project.path(value)
    if not path.is_file():
        raise InputError(f"translate.{name}: there is no file {path}")
    return path


def work(project: Project, settings: TranslateSettings) -> dict[str, Any]:
    """Write translate.jsonl.

    Raises:
        InputError: the translator or its file cannot be used.
    """
    documents = list(read_documents(project.folder / "extract.jsonl"))
    lines = [line for document in documents for line in document.lines[1]]
    counts: dict[str, Any] = {"documents": len(documents), "lines": len(lines)}
    output = project.folder / "translate.jsonl"
    if settings.by == "file":
        write_documents(output, with_file(documents, project.path(str(settings.file))))
        return counts
    translator = make_translator(project, settings, documents, counts)
    cache = Cache(project.folder / "translations.sqlite", translator.identity)
    try:
        counts["different lines"] = len(set(lines))
        counts["translated now"] = translate_lines(lines, translator, cache, settings.batch)
        write_documents(output, _translated(documents, cache))
    finally:
        cache.close()
    if isinstance(translator, DictionaryTranslator):
        words = [word.lower() for line in lines for word in WORD.findall(line)]
        known = sum(word in translator.dictionary for word in words)
        counts["words in the dictionary %"] = round(100 * known / max(len(words), 1), 1)
    return counts


def make_translator(
    project: Project, settings: TranslateSettings, documents: Sequence[Document], counts: dict[str, Any]
) -> Translator:
    """The translator that the settings name; an induced dictionary is written to the project."""
    if settings.by == "command":
        return CommandTranslator(settings.command)
    if settings.by == "model":
        model = project.path(str(settings.model))
        return ModelTranslator(
            model,
            model / settings.source_subwords,
            model / settings.target_subwords,
            settings.source_token,
            settings.target_token,
            settings.beam,
            settings.device,
        )
    if settings.dictionary:
        dictionary = read_dictionary(project.path(settings.dictionary))
    else:
        induced, pairs = induce(documents, settings.min_probability, settings.min_count)
        lexicon = {word: [entry] for word, entry in induced.items()}
        write_lexicon(lexicon, project.folder / "dictionary.tsv", as_json=False)
        dictionary = {word: other for word, (other, _) in induced.items()}
        counts["pairs of lines for the dictionary"] = pairs
    counts["words of the dictionary"] = len(dictionary)
    return DictionaryTranslator(dictionary)


def _translated(documents: Sequence[Document], cache: Cache) -> Iterator[Document]:
    for document in documents:
        document.translation = [cache[line] for line in document.lines[1]]
        yield document
