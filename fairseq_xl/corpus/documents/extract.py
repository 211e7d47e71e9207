"""The step ``extract``: from the HTML of a page to its lines of text.

It follows Multilingual Corpus Creation for Multilingual Semantic Similarity Task, section 2.1.2. The text comes from
inscriptis, split into lines "where each line can be a word, a sentence or a paragraph". Lines that hold no letter or
only one word are dropped. The text is that of the whole page or of the elements of given classes, which "helped to
retain more files".
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import regex
from inscriptis.html_engine import Inscriptis
from lxml.cssselect import CSSSelector
from lxml.html import HtmlElement

from fairseq_xl.corpus.crawling.counterparts import selectors
from fairseq_xl.corpus.crawling.html import decode, parse
from fairseq_xl.corpus.crawling.pages import header, page_file, read_jsonl
from fairseq_xl.corpus.crawling.site import host_of, path_of
from fairseq_xl.corpus.documents.document import Document, write_documents
from fairseq_xl.corpus.project import Project, Step
from fairseq_xl.io.atomic import atomic_text
from fairseq_xl.io.errors import InputError
from fairseq_xl.io.progress import progress_bar
from fairseq_xl.io.settings import option

_LIST_MARK = regex.compile(r"^(?:(?:[*•‣◦▪·–—-]|\d{1,3}\.)\s+)+")
# Scripts that do not put spaces between words.
_UNSPACED = regex.compile(r"[\p{Han}\p{Hiragana}\p{Katakana}\p{Thai}\p{Lao}\p{Khmer}\p{Myanmar}]{2}")


@dataclass
class ExtractSettings:
    """Section ``extract`` of corpus.yaml."""

    content: str = option(
        "what text to take. Choose page for all text, by inscriptis. Choose main for the main content that trafilatura "
        "finds, without menus and footers. It may leave out different things in each language",
        "page",
        choices=("page", "main"),
    )
    only: list[str] = option(
        "CSS selectors of the elements whose text alone to take: ['.content', '#main']; none: the whole page. Elements "
        "that both pages of a pair have give more pairs with equal numbers of lines",
        [],
    )
    without: list[str] = option(
        "CSS selectors of elements to leave out: menus, code, language switches: ['nav', 'pre']", []
    )
    sentences: bool = option(
        "split lines into sentences, by spaCy's rules. This needs an aligner that joins sentences, since a translation "
        "may have one more",
        False,
    )
    unequal: str = option(
        "what to do with pairs of pages that have unequal numbers of lines. The paper compares equal positions, so it "
        "drops them. Choose keep for an aligner that searches",
        "drop",
        choices=("drop", "keep"),
    )
    same_text: float = option(
        "drop pairs if this share of the counterpart's lines is on the page as well, since it was not translated; "
        "above 1: none",
        0.9,
        low=0,
    )


class Extractor:
    """Lines of a page by the settings.

    Raises:
        InputError: a selector is invalid.
    """

    def __init__(self, settings: ExtractSettings):
        self.main = settings.content == "main"
        self.only = selectors("extract.only", settings.only)
        self.without = selectors("extract.without", settings.without)

    def lines(self, text: str) -> list[str]:
        """The lines of a page's HTML that hold letters and more than one word."""
        tree = parse(text)
        if tree is None:
            return []
        for element in _chosen(tree, self.without):
            if element.getparent() is not None:
                element.drop_tree()
        elements = _chosen(tree, self.only) if self.only else [tree]
        return [line for element in elements for line in clean(self._text(element))]

    def _text(self, element: HtmlElement) -> str:
        if self.main:
            from trafilatura import extract

            return extract(element, include_comments=False) or ""
        return Inscriptis(element).get_text()


def _chosen(tree: HtmlElement, select: Iterable[CSSSelector]) -> list[HtmlElement]:
    """Elements in the page's order, without those inside others of them."""
    chosen = {element for selector in select for element in selector(tree)}
    return [
        element
        for element in tree.iter()
        if element in chosen and not any(outer in chosen for outer in element.iterancestors())
    ]


def clean(text: str) -> list[str]:
    """Lines with single spaces, without list marks. Those without letters or of one word are dropped."""
    lines = (_LIST_MARK.sub("", " ".join(line.split())) for line in text.split("\n"))
    return [line for line in lines if says_something(line)]


def says_something(line: str) -> bool:
    """Whether a line holds a letter and more than one word."""
    return any(map(str.isalpha, line)) and (" " in line or _UNSPACED.search(line) is not None)


class SentenceSplitter:
    """Split lines into sentences by spaCy's rules for a language, or by those for any."""

    def __init__(self, language: str):
        import spacy

        try:
            self.nlp = spacy.blank(language.partition("-")[0])
        except ImportError:
            self.nlp = spacy.blank("xx")
        self.nlp.add_pipe("sentencizer")
        self.nlp.max_length = 10_000_000

    def __call__(self, lines: Iterable[str]) -> list[str]:
        """The sentences with a letter and more than one word."""
        found = (span.text.strip() for doc in self.nlp.pipe(lines) for span in doc.sents)
        return [sentence for sentence in found if says_something(sentence)]


def documents(
    pages: Mapping[str, Mapping[str, Any]],
    pairs: Iterable[Mapping[str, Any]],
    body: Callable[[str], bytes],
    languages: tuple[str, str],
    settings: ExtractSettings,
    counts: dict[str, Any],
) -> Iterator[Document]:
    """The documents of a crawl's pairs.

    Args:
        pages: lines of pages.jsonl by address.
        pairs: lines of pairs.jsonl.
        body: the bytes of a page by their SHA-256.
        counts: gets the numbers, and lists of what was dropped.
    """
    extractor = Extractor(settings)
    splitters = [SentenceSplitter(language) for language in languages] if settings.sentences else []
    one_host = len({host_of(url) for url in pages}) == 1
    for name in ("documents", "equal", "unequal", "no text", "same text", "mixed encodings"):
        counts[name] = 0
    for name in ("pairs of unequal pages", "pairs without text", "pairs of the same text"):
        counts[name] = []
    for pair in pairs:
        sides = []
        for number, url in enumerate(pair["urls"]):
            page = pages[url]
            kind = header(page["headers"], "content-type")
            text, encoding = decode(body(page["sha256"]), kind)
            counts["mixed encodings"] += encoding == "utf-8+cp1252"
            lines = extractor.lines(text)
            sides.append(splitters[number](lines) if splitters else lines)
        first, second = sides
        address = pair["urls"][0]
        name = path_of(address) if one_host else host_of(address) + path_of(address)
        if not first or not second:
            counts["no text"] += 1
            counts["pairs without text"].append(name)
        elif sum(map(set(first).__contains__, second)) >= settings.same_text * len(second):
            counts["same text"] += 1
            counts["pairs of the same text"].append(name)
        else:
            equal = len(first) == len(second)
            counts["equal" if equal else "unequal"] += 1
            if not equal:
                counts["pairs of unequal pages"].append([name, len(first), len(second)])
            if equal or settings.unequal == "keep":
                counts["documents"] += 1
                yield Document(name, tuple(pair["urls"]), pair["found_by"], (first, second))


def inputs(project: Project, settings: ExtractSettings) -> list[Path]:
    """What the crawl left."""
    return [project.folder / "crawl" / name for name in ("pages.jsonl", "pairs.jsonl")]


def work(project: Project, settings: ExtractSettings) -> dict[str, Any]:
    """Write extract.jsonl, and the lines of each language for people.

    Raises:
        InputError: a selector is invalid, or there is no document.
    """
    crawled = project.folder / "crawl"
    pages = {page["url"]: page for page in read_jsonl(crawled / "pages.jsonl")}
    pairs = list(read_jsonl(crawled / "pairs.jsonl"))
    counts: dict[str, Any] = {"pairs": len(pairs)}

    def body(sha256: str) -> bytes:
        return page_file(crawled, sha256).read_bytes()

    bar = progress_bar("extract", True, None, " pairs", pairs)
    found = list(documents(pages, bar, body, project.languages, settings, counts))
    if not found:
        raise InputError(
            f"none of {len(pairs)} pairs of pages gave a document. {counts['unequal']} have unequal numbers of lines, "
            f"{counts['no text']} no text, and {counts['same text']} the same text on both sides. See extract.unequal "
            "and extract.only"
        )
    for side, language in enumerate(project.languages):
        lines = [line for document in found for line in document.lines[side]]
        counts[f"lines {language}"] = len(lines)
        with atomic_text(project.folder / f"extract.{language}.txt") as stream:
            stream.writelines(f"{line}\n" for line in lines)
    write_documents(project.folder / "extract.jsonl", found)
    return counts


STEP = Step(ExtractSettings, inputs, ["extract.jsonl"], work)
