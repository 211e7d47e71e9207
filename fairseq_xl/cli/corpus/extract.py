"""``fairseq-xl corpus extract``: documents from the pages and their counterparts."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from contextlib import ExitStack
from typing import Any

from tqdm import tqdm

from fairseq_xl.cli.corpus.options import add_project, run_once
from fairseq_xl.corpus.crawling.pages import page_file, read_jsonl
from fairseq_xl.corpus.documents.document import Document, write_documents
from fairseq_xl.corpus.documents.extract import ExtractSettings, documents
from fairseq_xl.corpus.documents.project import Project
from fairseq_xl.io.atomic import atomic_text
from fairseq_xl.io.errors import InputError


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    parser.description = (
        "Turn the pages and their counterparts into lines of text: extract.jsonl, and extract.LANG.txt with the"
        " lines of each language for your eyes or your own translator."
    )
    add_project(parser)


def run(args: argparse.Namespace) -> None:
    """Extract unless it is done."""
    run_once(
        args,
        "extract",
        ExtractSettings,
        lambda project, settings: [project.folder / "crawl" / name for name in ("pages.jsonl", "pairs.jsonl")],
        work,
    )


def work(project: Project, settings: ExtractSettings) -> dict[str, Any]:
    """Write extract.jsonl and the lines.

    Raises:
        InputError: a setting that is none, no document.
    """
    folder = project.folder / "crawl"
    pages = {page["url"]: page for page in read_jsonl(folder / "pages.jsonl")}
    pairs = list(read_jsonl(folder / "pairs.jsonl"))
    counts: dict[str, Any] = {"pairs": len(pairs)}
    with ExitStack() as stack:
        texts = [
            stack.enter_context(atomic_text(project.folder / f"extract.{language}.txt"))
            for language in project.languages
        ]
        lines = [0, 0]

        def noted(found: Iterator[Document]) -> Iterator[Document]:
            for document in found:
                for side, stream in enumerate(texts):
                    stream.writelines(f"{line}\n" for line in document.lines[side])
                    lines[side] += len(document.lines[side])
                yield document

        def body(sha256: str) -> bytes:
            return page_file(folder, sha256).read_bytes()

        bar = tqdm(pairs, desc="extract", unit=" pairs", delay=1)
        found = documents(pages, bar, body, project.languages, settings, counts)
        if not write_documents(project.folder / "extract.jsonl", noted(found)):
            raise InputError(
                f"none of {len(pairs)} pairs of pages gave a document ({counts['unequal']} have unequal numbers of"
                f" lines, {counts['no text']} no text, {counts['same text']} the same text on both sides): see"
                " extract.unequal and extract.only"
            )
    for language, number in zip(project.languages, lines, strict=True):
        counts[f"lines {language}"] = number
    return counts
