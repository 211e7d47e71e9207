"""How a sentence becomes words: the paper's rules (Hadgu 2018, section 3.3), each of which can be switched off."""

from __future__ import annotations

import unicodedata
from dataclasses import dataclass

import regex

_LETTER_OR_DIGIT = regex.compile(r"[\p{L}\p{N}]")
# A word keeps the marks that stand between its letters: don't, e-mail, 3.50.
_WORD = regex.compile(r"[\p{L}\p{M}\p{N}]+(?:['’\-.,][\p{L}\p{M}\p{N}]+)*|[^\s]")


@dataclass(frozen=True)
class Wording:
    """Rules from text to words.

    Attributes:
        lower: fold case.
        punctuation: keep punctuation marks as words of their own.
        longest: words of a sentence that count; further ones are cut off (the paper's: 60).
    """

    lower: bool = True
    punctuation: bool = False
    longest: int = 60

    def sentence(self, text: str, language: str | None = None) -> str:
        """The words, separated by spaces, each behind its language and a colon where there is one."""
        words = self.words(text)
        return " ".join(f"{language}:{word}" for word in words) if language else " ".join(words)

    def words(self, text: str) -> list[str]:
        """The words of a sentence; none where it has only marks that are not kept."""
        text = unicodedata.normalize("NFC", text)
        found = _WORD.findall(text.lower() if self.lower else text)
        if not self.punctuation:
            found = [word for word in found if _LETTER_OR_DIGIT.search(word)]
        return found[: self.longest]
