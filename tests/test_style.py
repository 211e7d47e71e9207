"""Plain English in README.md, CONTRIBUTING.md and docs/: short sentences, and no words from the list.

CONTRIBUTING.md has the rules ("Plain English") with examples.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from doc_pages import PAGES, ROOT, name_of

LONGEST = 25
AVOIDED = {
    r"utili[sz]e[sd]?|utili[sz]ing": "use",
    r"leverag(?:e[sd]?|ing)": "use",
    r"in order to": "to",
    r"e\.g\.": "for example",
    r"i\.e\.": "that is",
    r"etc\.?": "name the things, or leave it out",
    r"and/or": "or",
    r"via": "by, through",
    r"simply|just|easily|obviously|of course": "leave it out",
    r"thereof|hereby|herein|thereby|whereby": "of it, by this, in it",
    r"amongst|whilst": "among, while",
    r"lends?|lent": "transfer: labels are transferred",
    r"twins?": "name the model",
    r"rooms?": "folder, part",
    r"other than in the paper": "unlike the paper",
    r"nothing else": "say what there is",
    r"state of the art|cutting[- ]edge|blazing(?:ly)?|seamless(?:ly)?|powerful": "give a figure",
}
"""What is not written -> what is written instead."""
WRITTEN = [*PAGES, ROOT / "CONTRIBUTING.md"]
_FENCE = re.compile(r"^```.*?^```$", re.DOTALL | re.MULTILINE)
_TAGS = re.compile(r"<!--.*?-->|</?(?:details|summary|div|figure|img)[^>]*>", re.DOTALL)
_NAMES = "fairseq|fairseq_xl|fastText|eole|pip|uv|chrF"
_END = re.compile(rf"""(?<=[.!?])["')*_]*\s+(?=["'(*_]*(?:[^\sa-z]|(?:{_NAMES})\b))""")
"""A point before a capital or a figure, or before a name that begins small."""


def prose(text: str) -> Iterator[str]:
    """The paragraphs and items of a page, without code, tables and pictures; `code` is the word CODE."""
    text = re.sub(r"^<summary>.*</summary>$", "", _FENCE.sub("", text), flags=re.MULTILINE)
    text = re.sub(r"`[^`]+`", "CODE", _TAGS.sub("", text))
    text = re.sub(r"!\[[^\]]*\]\([^)]*\)", "", text)
    text = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", text)
    for block in re.split(r"\n\s*\n", text):
        lines = [line for line in block.splitlines() if line.strip()]
        if not lines or lines[0].startswith(("    ", "|")):
            continue
        for part in re.split(r"^\s*(?:[-*]|\d+\.)\s+|^#+ .*$", "\n".join(lines), flags=re.MULTILINE):
            if part.strip() and not part.lstrip().startswith("|"):
                yield " ".join(part.split())


def sentences(text: str) -> Iterator[str]:
    for part in prose(text):
        yield from _END.split(part)


def length(sentence: str) -> int:
    """Words: what has a letter or a digit."""
    return sum(any(sign.isalnum() for sign in word) for word in sentence.split())


@pytest.mark.parametrize("page", WRITTEN, ids=name_of)
def test_sentences_are_short(page: Path):
    found = sentences(page.read_text(encoding="utf-8"))
    long = [f"{length(one)} words: {one}" for one in found if length(one) > LONGEST]
    assert not long, "\n".join([f"{len(long)} sentences of more than {LONGEST} words:", *long])


@pytest.mark.parametrize("page", WRITTEN, ids=name_of)
def test_words_are_plain(page: Path):
    said = " ".join(prose(page.read_text(encoding="utf-8")))
    for word, instead in AVOIDED.items():
        found = re.search(rf"(?<![\w-])(?:{word})(?![\w-])", said, flags=re.IGNORECASE)
        assert not found, f"…{said[max(0, found.start() - 40) : found.end() + 40]}…: rather {instead}"


def test_what_is_measured():
    page = (
        "# A head of many words\n\nOne `two three` four, [five six](x.md). Seven?\n\n- Item one.\n- Item\n  two\n\n"
        "| a | b |\n|---|---|\n| c d | e |\n\n```sh\nno words\n```\n\n![a picture](x.png)\n\n    code block\n\n"
        "As Bhat et al. (2019) say, 1.5 is more than 1.\n"
    )
    found = list(sentences(page))
    assert found[:4] == ["One CODE four, five six.", "Seven?", "Item one.", "Item two"]
    assert "".join(found[4:]) == "As Bhat et al.(2019) say, 1.5 is more than 1."
    assert [length(one) for one in found[:4]] == [5, 1, 2, 2]
    assert length("− 1 = x, ±") == 2
