"""The code blocks of README.md and the guides."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "recipes").glob("*.md"))]
# eole is in an environment of its own, where tests/eole trains with the configuration that its page names.
RUN_HERE = [page for page in PAGES if page.name != "eole.md"]
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


def blocks(page: Path) -> list[Block]:
    """All blocks of a page, in order."""
    return blocks_of(page.read_text(encoding="utf-8"), page.name)


def blocks_of(text: str, page: str) -> list[Block]:
    """The same of a page's text."""
    found = []
    for match in re.finditer(_BLOCK, text):
        indented = match["indented"]
        body = match["fenced"] if indented is None else re.sub("^    ", "", indented, flags=re.MULTILINE)
        start = text.count("\n", 0, match.start()) + 1
        found.append(Block(page, start, "sh" if indented is not None else match["kind"], body))
    return found
