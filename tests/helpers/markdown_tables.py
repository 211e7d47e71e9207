"""What stands in a table of Markdown."""

from __future__ import annotations


def rows(text: str) -> list[list[str]]:
    """The cells of each line that belongs to a table; the first two are the header's and the rule's."""
    return [[cell.strip() for cell in line.split("|")[1:-1]] for line in text.splitlines() if "|" in line]


def by_name(text: str) -> dict[str, list[str]]:
    """The other cells of each line by its first."""
    return {name: others for name, *others in rows(text)}
