"""The step ``translate``: the second language's lines into the first, each line once and never again."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

from fairseq_xl.corpus.alignment.dictionary import induce
from fairseq_xl.corpus.alignment.translators import (
    WORD,
    CommandTranslator,
    DictionaryTranslator,
    ModelTranslator,
    TranslateSettings,
    Translator,
    command_files,
)
from fairseq_xl.corpus.documents.document import Document, read_documents, write_documents
from fairseq_xl.corpus.project import Project, Step
from fairseq_xl.io.databases import Cache
from fairseq_xl.io.errors import InputError
from fairseq_xl.io.lexicons import read_translations, write_lexicon
from fairseq_xl.io.lines import read_lines
from fairseq_xl.io.progress import progress_bar


def translate_lines(lines: Iterable[str], translator: Translator, cache: Cache, batch: int) -> int:
    """Translate every line that the cache lacks; return how many that were.

    Raises:
        InputError: the translator cannot. Batches before are kept.
    """
    different = list(dict.fromkeys(lines))
    known = cache.get(translator.identity, different)
    new = [line for line, translation in zip(different, known, strict=True) if translation is None]
    rest = iter(new)
    with progress_bar("translate", True, len(new), " lines") as bar:
        while part := list(islice(rest, batch)):
            translated = translator.translate(part)
            cache.put(translator.identity, part, translated)
            bar.update(len(part))
    return len(new)


def with_file(documents: Sequence[Document], path: Path) -> Iterator[Document]:
    """Documents with the translation that a file holds, line for line of all second sides.

    Raises:
        InputError: the file cannot be read, or has another number of lines.
    """
    lines = list(read_lines(path))
    expected = sum(len(document.lines[1]) for document in documents)
    if len(lines) != expected:
        raise InputError(
            f"{path} has {len(lines)} lines where the pages have {expected}: translate the lines of extract.LANG.txt,"
            " one by one"
        )
    start = 0
    for document in documents:
        end = start + len(document.lines[1])
        document.translation = lines[start:end]
        start = end
        yield document


def inputs(project: Project, settings: TranslateSettings) -> Sequence[Path]:
    """The files and folders that the step reads.

    Raises:
        InputError: a setting that the way of translating needs is missing.
    """
    files = [project.folder / "extract.jsonl"]
    if settings.by == "command":
        return [*files, *command_files(settings.command)]
    given = getattr(settings, settings.by)
    if settings.by in ("model", "file") and not given:
        raise InputError(f"translate.by is {settings.by}: set translate.{settings.by}")
    if given:
        path = project.path(given)
        if not path.exists():
            raise InputError(f"translate.{settings.by}: there is no {path}")
        files.append(path)
    return files


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
    cache = Cache(project.folder / "translations.sqlite", "a cache of translations")
    try:
        counts["different lines"] = len(set(lines))
        counts["translated now"] = translate_lines(lines, translator, cache, settings.batch)
        write_documents(output, _translated(documents, translator.identity, cache))
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
        return ModelTranslator(project.path(str(settings.model)), settings)
    if settings.dictionary:
        dictionary = read_translations(project.path(settings.dictionary), lower=True)
    else:
        induced, pairs = induce(documents, settings.min_probability, settings.min_count)
        lexicon = {word: [entry] for word, entry in induced.items()}
        write_lexicon(lexicon, project.folder / "dictionary.tsv", as_json=False)
        dictionary = {word: other for word, (other, _) in induced.items()}
        counts["pairs of lines for the dictionary"] = pairs
    counts["words of the dictionary"] = len(dictionary)
    return DictionaryTranslator(dictionary)


def _translated(documents: Sequence[Document], identity: str, cache: Cache) -> Iterator[Document]:
    for document in documents:
        document.translation = [str(found) for found in cache.get(identity, document.lines[1])]
        yield document


STEP = Step(TranslateSettings, inputs, ["translate.jsonl"], work)
