"""The key of an English sentence: sentences of equal key most likely mean the same (Hadgu 2018, section 3.2).

The sentence is lower-cased, and stop words and numbers are removed. Words that deny become one "no", however many there
are. The rest is a bag of words, which is sorted and hashed. The order of words is lost, but their number is not. The
key has 64 bits. Among thirty million different bags two share a key by accident with a probability of 2.4e-5.

Words that ask stay. The paper removed them from the bag with NLTK's stop words. On the English pairs of the CIKM
AnalytiCup 2018, keeping them recovers two points less and avoids three quarters of the wrong matches. A sentence has no
key if nothing is left of it, or only "no" and words that ask. Words alone do not tell what "how are you?" and "is it
not there yet?" mean.
"""

from __future__ import annotations

import hashlib
import unicodedata
from collections.abc import Collection
from functools import cache
from pathlib import Path

import regex

from fairseq_xl.io.errors import InputError
from fairseq_xl.io.lines import read_lines

STOP_WORDS = Path(__file__).with_name("english_stopwords.txt")
QUESTIONS = Path(__file__).with_name("english_questions.txt")
NEGATIONS = Path(__file__).with_name("english_negations.txt")
NO = "no"
# Chat joins sentences ("tracking.I"), so a full stop or a hyphen separates words here.
_WORD = regex.compile(r"[\p{L}\p{M}\p{N}]+(?:'[\p{L}\p{M}\p{N}]+)*")
_LETTERS = regex.compile(r"[\p{L}\p{M}\p{N}]+")


@cache
def read_words(path: Path) -> frozenset[str]:
    """The lower-cased words of a file, separated by blanks or lines. A line that begins with # is a comment.

    Raises:
        InputError: the file is missing, is not UTF-8, or has no word in it.
    """
    lines = (line for line in read_lines(path) if not line.startswith("#"))
    words = frozenset(word.lower() for line in lines for word in line.split())
    if not words:
        raise InputError(f"{path} holds no words: give a file with stop words")
    return words


class EnglishKey:
    """Keys of English sentences.

    Args:
        stop_words: words that do not count. A word that asks may be one of them.
    """

    def __init__(self, stop_words: Collection[str]):
        self.stop_words = frozenset(stop_words)
        self.negations = read_words(NEGATIONS)
        self.questions = read_words(QUESTIONS)

    @classmethod
    def of_file(cls, stop_words: Path | None = None) -> EnglishKey:
        """Keys with a file of stop words instead of the package's.

        Raises:
            InputError: the file is missing or has no words.
        """
        return cls(read_words(stop_words or STOP_WORDS))

    def bag(self, sentence: str) -> list[str]:
        """The words of a sentence that count, sorted. Empty if they only deny and ask."""
        text = unicodedata.normalize("NFKC", sentence).lower().replace("’", "'")
        bag: list[str] = []
        denied = told = False
        for word in _WORD.findall(text):
            if word in self.negations or word.endswith("n't"):
                denied = True
            elif word not in self.stop_words and not word.isnumeric():
                told = told or word not in self.questions
                bag.append(word.removesuffix("'s"))  # "the seller's" counts as "seller"
        if not told:
            return []
        return sorted([*bag, NO] if denied else bag)

    def __call__(self, sentence: str) -> int | None:
        """The key, a signed 64-bit number. None if the bag is empty."""
        bag = self.bag(sentence)
        return hashed(" ".join(bag)) if bag else None


def hashed(text: str, seed: int = 0) -> int:
    """A signed 64-bit number, the same on every machine. Other seeds give other numbers."""
    digest = hashlib.blake2b(text.encode(), digest_size=8, salt=seed.to_bytes(16, "little"))
    return int.from_bytes(digest.digest(), "big", signed=True)


def normal_form(sentence: str) -> str:
    """The sentence in lower case, with a blank for every mark. Sentences of equal form count as identical."""
    return " ".join(_LETTERS.findall(unicodedata.normalize("NFC", sentence).lower()))
