"""The pages of README.md and docs/, and their code blocks."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
PAGES = [ROOT / "README.md", *sorted(DOCS.rglob("*.md"))]
# eole is in an environment of its own, where tests/eole trains with the configuration that its page names.
NOT_HERE = ("how-to/opennmt.md",)
# What is indented by four spaces after a blank line, or stands between fences.
_BLOCK = re.compile(
    r"^```(?P<kind>\w*)\n(?P<fenced>.*?)^```$|(?<=\n\n)(?P<indented>(?:    [^\n]*\n)+)", re.DOTALL | re.MULTILINE
)


@dataclass(frozen=True)
class Block:
    """A block as it is printed: indented ones are for the shell, fenced ones say what they are."""

    page: str
    line: int
    kind: str
    text: str

    @property
    def where(self) -> str:
        return f"{self.page}, line {self.line}"


def name_of(page: Path) -> str:
    """A page's place below docs/, or the name of README.md."""
    return page.relative_to(DOCS if page.is_relative_to(DOCS) else ROOT).as_posix()


def blocks(page: Path) -> list[Block]:
    """All blocks of a page, in order."""
    return blocks_of(page.read_text(encoding="utf-8"), name_of(page))


def blocks_of(text: str, page: str) -> list[Block]:
    """The same of a page's text."""
    found = []
    for match in re.finditer(_BLOCK, text):
        indented = match["indented"]
        body = match["fenced"] if indented is None else re.sub("^    ", "", indented, flags=re.MULTILINE)
        start = text.count("\n", 0, match.start()) + 1
        found.append(Block(page, start, "sh" if indented is not None else match["kind"], body))
    return found
