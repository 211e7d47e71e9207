"""Which words of a dictionary have no vector, and how much of the text they make."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class Coverage:
    """Types are distinct words, tokens their occurrences (the dictionary's counts)."""

    types: int
    covered_types: int
    tokens: int
    covered_tokens: int
    missing: list[tuple[str, int]]
    """Words without a vector and their counts, the most frequent first."""

    @property
    def type_share(self) -> float:
        """Share of the words that have a vector, from 0 to 1."""
        return self.covered_types / self.types

    @property
    def token_share(self) -> float:
        """Share of the text that has a vector; NaN for a dictionary whose counts are all zero."""
        return self.covered_tokens / self.tokens if self.tokens else float("nan")

    def __str__(self) -> str:
        tokens = f", {self.token_share:.2%} of the tokens" if self.tokens else ""
        return f"{self.covered_types} of {self.types} words have a vector ({self.type_share:.2%} of the words{tokens})"


def coverage(dictionary: Mapping[str, int], words: Collection[str]) -> Coverage:
    """Compare a dictionary's words (with counts, at least one) with those that have a vector."""
    if not dictionary:
        raise ValueError("a dictionary without words has no coverage")
    known = words if isinstance(words, (set, frozenset, Mapping)) else frozenset(words)
    missing = [(word, count) for word, count in dictionary.items() if word not in known]
    missing.sort(key=lambda entry: -entry[1])
    tokens = sum(dictionary.values())
    return Coverage(
        types=len(dictionary),
        covered_types=len(dictionary) - len(missing),
        tokens=tokens,
        covered_tokens=tokens - sum(count for _, count in missing),
        missing=missing,
    )
