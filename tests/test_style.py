"""Plain English in README.md, CONTRIBUTING.md, docs/ and the package: short sentences, and no words from the list.

CONTRIBUTING.md has the rules ("Plain English") with examples.
"""

from __future__ import annotations

import ast
import io
import re
import tokenize
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
PACKAGE = ROOT / "fairseq_xl"
FOLDERS = sorted(path for path in PACKAGE.iterdir() if list(path.glob("*.py")))
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


_PARTS = re.compile(
    r"\n\s*\n"  # paragraphs
    r"|^[ ]*[-*][ ]"  # items
    r"|^[ ]*(?:Args|Attributes|Raises|Returns|Yields):"
    r"|^[ ]+[\w*, ]+:[ ]"  # what an argument is
    r"|^(?=[^\n]*\S[ ]{2,}\S)",  # rows of a table
    re.MULTILINE,
)


def comments(code: str) -> Iterator[str]:
    """Blocks of comments: lines that follow each other."""
    block: list[str] = []
    last = 0
    for token in tokenize.generate_tokens(io.StringIO(code).readline):
        if token.type == tokenize.COMMENT:
            if token.start[0] != last + 1 and block:
                yield " ".join(block)
                block = []
            block.append(token.string.lstrip("# "))
            last = token.start[0]
    yield " ".join(block)


def strings(code: str) -> Iterator[str]:
    """Docstrings, help and messages; `VALUE` stands for what an f-string puts in."""
    inside = set()
    for node in ast.walk(ast.parse(code)):
        if isinstance(node, ast.JoinedStr):
            inside.update(map(id, node.values))
            yield "".join(str(part.value) if isinstance(part, ast.Constant) else "VALUE" for part in node.values)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in inside:
            yield node.value


_SQL = re.compile(r"\s*(?:CREATE|SELECT|INSERT|QUALIFY|create table) ")


def said_in_code(code: str) -> Iterator[str]:
    """The sentences of a module's docstrings, help, messages and comments. Statements of a database are none."""
    for text in (*strings(code), *comments(code)):
        if _SQL.match(text):
            continue
        text = re.sub(r"``[^`]+``|`[^`]+`", "CODE", re.sub(r"::\n\n(?:[ ]+.*\n|\n)*", ".\n\n", text))
        for part in _PARTS.split(text):
            yield from _END.split(" ".join(part.split()))


@pytest.mark.parametrize("folder", FOLDERS, ids=name_of)
def test_sentences_in_code_are_short(folder: Path):
    long = [
        f"{path.relative_to(ROOT)}: {length(one)} words: {one}"
        for path in sorted(folder.rglob("*.py"))
        for one in said_in_code(path.read_text(encoding="utf-8"))
        if length(one) > LONGEST
    ]
    assert not long, "\n".join([f"{len(long)} sentences of more than {LONGEST} words:", *long])


def test_what_is_measured_in_code():
    code = (
        '"""First line.\n\nTwo ``a b``:\n\n    long      a row\n    short     another\n\nArgs:\n    one: is this\n'
        '"""\n# A comment\n# of two lines.\nx = f"{y} is wrong. Say so"\n'
        'y = "SELECT a FROM b"\n'
    )
    found = [one for one in said_in_code(code) if one]
    assert found == [
        *("First line.", "Two CODE:", "long a row", "short another", "is this", "VALUE is wrong.", "Say so"),
        "A comment of two lines.",
    ]


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
