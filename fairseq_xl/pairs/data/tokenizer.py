"""How a sentence becomes words: the paper's rules (Hadgu 2018, section 3.3), each of which can be switched off."""

from __future__ import annotations

import unicodedata
from dataclasses import dataclass

import regex

from fairseq_xl.io.settings import option

_LETTER_OR_DIGIT = regex.compile(r"[\p{L}\p{N}]")
# A word keeps the marks that stand between its letters: don't, e-mail, 3.50.
_WORD = regex.compile(r"[\p{L}\p{M}\p{N}]+(?:['’\-.,][\p{L}\p{M}\p{N}]+)*|[^\s]")


@dataclass(kw_only=True)
class WordRules:
    """Which words a text has."""

    keep_case: bool = option("do not fold case", False)
    keep_punctuation: bool = option("keep punctuation marks as words of their own", False)

    def words(self, text: str) -> list[str]:
        """The words of a sentence; none where it has only marks that are not kept."""
        text = unicodedata.normalize("NFC", text)
        found = _WORD.findall(text if self.keep_case else text.lower())
        return found if self.keep_punctuation else [word for word in found if _LETTER_OR_DIGIT.search(word)]


@dataclass(kw_only=True)
class Tokenizer(WordRules):
    """The words that pair classifiers see."""

    longest: int = option(
        "words of a sentence that count; further ones are cut off", 60, low=1, shown="60, the paper's", metavar="N"
    )

    def words(self, text: str) -> list[str]:
        return super().words(text)[: self.longest]

    def sentence(self, text: str, language: str | None = None) -> str:
        """The words, separated by spaces, each behind its language and a colon where there is one."""
        words = self.words(text)
        return " ".join(f"{language}:{word}" for word in words) if language else " ".join(words)
