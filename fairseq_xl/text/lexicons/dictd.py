"""Translations of a dictionary for dictd (RFC 2229), as FreeDict publishes them: FILE.index beside FILE.dict.dz.

The index has a line for each headword: the word, and the place and length of its entry in bytes, in base 64 without
padding. An entry begins with the headword, its pronunciation and grammar. Lines of translations follow it, numbered
where there are several. Examples and notes are indented.
"""

from __future__ import annotations

import string
from collections.abc import Iterator
from pathlib import Path

import regex

from fairseq_xl.io.errors import InputError
from fairseq_xl.io.lines import read_bytes, read_lines

_DIGITS = {digit: value for value, digit in enumerate(string.ascii_uppercase + string.ascii_lowercase + "0123456789+/")}
_NUMBER = regex.compile(r"^\d+\.\s+")
_REMARK = regex.compile(r"<[^<>]*>|\[[^][]*\]|\([^()]*\)|\{[^{}]*\}|(?i:\b(?:see|synonyms?|note):.*)")
_NEXT = regex.compile(r"[,;]")


def read_dictd(index: Path) -> dict[str, list[str]]:
    """The translations of each headword of one word, in lower case. Single words come before phrases.

    Args:
        index: the index; the dictionary is beside it, with the ending ``.dict.dz`` or ``.dict``.

    Raises:
        InputError: A file cannot be read or is damaged. No headword of one word has a translation.
    """
    text = _dictionary(index)
    found: dict[str, list[str]] = {}
    for word, start, length in _places(index):
        if start + length > len(text):
            raise InputError(f"{index}: the entry of {word!r} is beyond the dictionary's end: fetch both files again")
        try:
            entry = text[start : start + length].decode("utf-8")
        except UnicodeDecodeError:
            raise InputError(f"{index}: the entry of {word!r} is no UTF-8: fetch both files again") from None
        known = found.setdefault(word.lower(), [])
        known += [translation for translation in _translations(entry) if translation not in known]
    found = {word: sorted(known, key=lambda translation: " " in translation) for word, known in found.items() if known}
    if not found:
        raise InputError(f"{index} has no word with a translation: is this a bilingual dictionary, as FreeDict's?")
    return found


def _dictionary(index: Path) -> bytes:
    if index.suffix != ".index":
        raise InputError(f"{index} is no index of a dictionary: give FILE.index, beside FILE.dict.dz")
    packed, plain = index.with_suffix(".dict.dz"), index.with_suffix(".dict")
    return read_bytes(plain if plain.exists() else packed)


def _places(index: Path) -> Iterator[tuple[str, int, int]]:
    """Headwords of one word, but for what describes the database itself (``00-database-…``)."""
    for number, line in enumerate(read_lines(index), start=1):
        columns = line.split("\t")
        try:
            word, start, length = columns[0], _number(columns[1]), _number(columns[2])
        except (IndexError, KeyError):
            raise InputError(
                f"{index}, line {number}: a line is a word, and a place and a length in base 64, separated by tabs"
            ) from None
        if word and not word.startswith(("00-database", "00database")) and not any(map(str.isspace, word)):
            yield word, start, length


def _number(digits: str) -> int:
    if not digits:
        raise KeyError(digits)
    value = 0
    for digit in digits:
        value = 64 * value + _DIGITS[digit]
    return value


def _translations(entry: str) -> Iterator[str]:
    for line in entry.split("\n")[1:]:
        if line[:1].isspace():  # an example or a note
            continue
        for part in _NEXT.split(_REMARK.sub("", _NUMBER.sub("", line))):
            if translation := " ".join(part.split()):
                yield translation
