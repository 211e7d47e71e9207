"""Whether the two sides of a parallel corpus are the wrong way round, by scripts and a few function words.

It is no language identification. The check tells two stated languages apart. It says nothing of languages that it does
not know or that share script and words.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence

from fairseq_xl.io.errors import InputError

_WORDS = {
    "en": "the and of is to you that was it",
    "de": "der die das und ist nicht ich sie ein",
    "fr": "le les est et je vous pas une des",
    "es": "el los las que está y una por en",
    "it": "il che è di non una per sono gli",
    "pt": "o não que uma os é um com você",
    "nl": "de het een en niet ik is van dat",
    "sv": "och att det är jag inte som en på",
    "da": "og det er jeg ikke at en til af",
    "pl": "nie i w się na to jest z że",
    "cs": "je se na že a v to s jsem",
    "ro": "și nu este un o de să în cu",
    "hu": "a az és nem egy hogy van ez meg",
    "fi": "ja on ei se että hän en oli mutta",
    "tr": "bir ve bu için ne çok o da de",
    "id": "yang dan di itu saya tidak dia ini dengan",
}
_SCRIPTS = {
    "CYRILLIC": "ru uk bg sr mk be kk",
    "GREEK": "el",
    "CJK": "zh",
    "HIRAGANA": "ja",
    "HANGUL": "ko",
    "ARABIC": "ar fa ur ps",
    "HEBREW": "he yi",
    "DEVANAGARI": "hi mr ne",
    "BENGALI": "bn as",
    "TAMIL": "ta",
    "TELUGU": "te",
    "THAI": "th",
    "GEORGIAN": "ka",
    "ARMENIAN": "hy",
    "ETHIOPIC": "am ti",
}
_SHORTER = {
    **{"eng": "en", "deu": "de", "ger": "de", "fra": "fr", "fre": "fr", "spa": "es", "ita": "it", "por": "pt"},
    **{"nld": "nl", "dut": "nl", "swe": "sv", "dan": "da", "pol": "pl", "ces": "cs", "ron": "ro", "hun": "hu"},
    **{"fin": "fi", "tur": "tr", "ind": "id", "rus": "ru", "ukr": "uk", "ell": "el", "cmn": "zh", "zho": "zh"},
    **{"jpn": "ja", "kor": "ko", "ara": "ar", "fas": "fa", "heb": "he", "hin": "hi", "tha": "th", "tel": "te"},
}
_SCRIPT_OF = {code: script for script, codes in _SCRIPTS.items() for code in codes.split()}
_LATIN_WORDS = {code: frozenset(words.split()) for code, words in _WORDS.items()}
_SAMPLE = 1000
_CLEARLY = 0.3


def likeness(lines: Sequence[str], language: str) -> float | None:
    """The share of lines that look like a language: a function word of it, or a letter of its script.

    Args:
        lines: plain text.
        language: two- or three-letter code.

    Returns:
        None for a language that is not known here.
    """
    language = language.lower()
    language = _SHORTER.get(language, language)
    if language in _LATIN_WORDS:
        words = _LATIN_WORDS[language]
        return _share([not words.isdisjoint(re.findall(r"\w+", line.lower())) for line in lines])
    if language in _SCRIPT_OF:
        script = _SCRIPT_OF[language]
        return _share([any(unicodedata.name(letter, "").startswith(script) for letter in line) for line in lines])
    return None


def wrong_way_round(pairs: Sequence[tuple[str, str]], languages: tuple[str, str]) -> bool:
    """Whether the left side looks like the second language and the right side like the first, clearly more than as is.

    >>> wrong_way_round([("Das ist der Hund.", "This is the dog.")], ("en", "de"))
    True
    >>> wrong_way_round([("Das ist der Hund.", "This is the dog.")], ("de", "en"))
    False
    """
    sample = pairs[:: max(1, len(pairs) // _SAMPLE)]
    sides = tuple([pair[side] for pair in sample] for side in (0, 1))
    gain, known = 0.0, 0
    for place, language in enumerate(languages):
        here, there = likeness(sides[place], language), likeness(sides[1 - place], language)
        if here is not None and there is not None:
            gain, known = gain + there - here, known + 1
    return known > 0 and gain / known > _CLEARLY


def check_sides(name: str, pairs: Sequence[tuple[str, str]], languages: tuple[str, str]) -> None:
    """Raises: InputError: :func:`wrong_way_round` says so of the pairs of the input ``name``."""
    if wrong_way_round(pairs, languages):
        first, second = languages
        raise InputError(
            f"{name}: what should be {first} looks like {second}, and the other way round: exchange the columns, files "
            "or languages, or say --trust-languages"
        )


def _share(found: Sequence[bool]) -> float:
    return sum(found) / len(found) if found else 0.0
