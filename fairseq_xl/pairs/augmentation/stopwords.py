"""English function words: a list of the package's own, or a user's file of the same form."""

from __future__ import annotations

from functools import cache
from pathlib import Path

from fairseq_xl.io.errors import InputError
from fairseq_xl.io.lines import read_lines

STOP_WORDS = Path(__file__).with_name("english_stopwords.txt")
QUESTIONS = Path(__file__).with_name("english_questions.txt")
NEGATIONS = Path(__file__).with_name("english_negations.txt")


@cache
def read_words(path: Path) -> frozenset[str]:
    """The words of a file: lower-cased, separated by blanks or lines; a line that begins with # is a comment.

    Raises:
        InputError: no such file, not UTF-8, or no word in it.
    """
    lines = (line for line in read_lines(path) if not line.startswith("#"))
    words = frozenset(word.lower() for line in lines for word in line.split())
    if not words:
        raise InputError(f"{path} holds no words: give a file with stop words")
    return words
