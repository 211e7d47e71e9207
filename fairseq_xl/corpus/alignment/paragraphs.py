"""Parallel text of pages whose elements carry the same ``id`` in every language, as translated manuals do.

Such an ``id`` is the translator's own alignment. The pages of two languages have the same relative names.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path

from lxml.html import HtmlElement

from fairseq_xl.corpus.crawling.html import decode, parse
from fairseq_xl.corpus.documents.extract import says_something
from fairseq_xl.io.errors import InputError

BLOCKS = ("p", "h1", "h2", "h3", "h4", "h5", "h6", "li", "td", "th", "dt", "dd", "caption", "figcaption", "blockquote")
"""Elements that hold a paragraph. Others with an ``id`` are parts of one, or hold several."""

Splitter = Callable[[list[str]], list[str]]


def paragraphs(page: bytes) -> dict[str, str]:
    """The text of each paragraph with an ``id``, with single spaces.

    Neither paragraph counts if its ``id`` occurs twice, nor does one that holds another paragraph.
    """
    tree = parse(decode(page)[0])
    if tree is None:
        return {}
    blocks = [element for element in tree.iter(*BLOCKS) if element.get("id")]
    times = Counter(element.get("id") for element in blocks)
    found: dict[str, str] = {}
    for element in blocks:
        if times[element.get("id")] == 1 and not _holds_another(element):
            text = " ".join(element.text_content().split())
            if says_something(text):
                found[element.get("id")] = text
    return found


def _holds_another(element: HtmlElement) -> bool:
    return any(inner is not element for inner in element.iter(*BLOCKS))


def page_names(first: Path, second: Path) -> list[str]:
    """Relative names of the pages that both folders have.

    Raises:
        InputError: a folder does not exist, or the folders have no page in common.
    """
    names = []
    for folder in (first, second):
        if not folder.is_dir():
            raise InputError(f"there is no folder {folder}: give the folder of a language's pages")
        names.append({page.relative_to(folder).as_posix() for page in folder.rglob("*.html") if page.is_file()})
    both = sorted(names[0] & names[1])
    if not both:
        raise InputError(f"{first} and {second} have no .html page of the same name: give two languages of one site")
    return both


def pairs(
    first: Path,
    second: Path,
    names: Iterable[str],
    counts: Counter[str],
    splitters: Sequence[Splitter] = (),
) -> Iterator[tuple[str, str]]:
    """The text of paragraphs with the same ``id`` on pages of the same name, each pair once.

    Args:
        names: relative to both folders, see :func:`page_names`.
        counts: gets the number of ``pages``, and the numbers of paragraphs, or of sentences if there are
            ``splitters``. These are ``untranslated`` (the same on both sides), ``unequal`` (different numbers of
            sentences), ``duplicate``, or ``written``.
        splitters: one for each side, from lines to sentences. A pair with equally many sentences is cut into these, in
            order. Another pair is left out.
    """
    known: set[tuple[str, str]] = set()
    for name in names:
        counts["pages"] += 1
        left, right = (paragraphs((folder / name).read_bytes()) for folder in (first, second))
        for key, text in left.items():
            if key not in right:
                continue
            sides = [[text], [right[key]]]
            if splitters:
                sides = [splitter(side) for splitter, side in zip(splitters, sides, strict=True)]
            if len(sides[0]) != len(sides[1]):
                counts["unequal"] += 1
                continue
            for pair in zip(*sides, strict=True):
                if pair[0] == pair[1]:
                    counts["untranslated"] += 1
                elif pair in known:
                    counts["duplicate"] += 1
                else:
                    known.add(pair)
                    counts["written"] += 1
                    yield pair
