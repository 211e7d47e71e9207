"""Which sentences are fit for training: what the paper's section 3.3 prunes, sentence by sentence.

"At least three words, no multiple sentences, no incomplete sentences"; the paper does not say how it recognises them.
Here it is done by rule, without a model, and alike in every language:

* a word is what spaces separate, if it has a letter or a digit. In a script without spaces (Han, kana, Thai, …) two
  characters count as a word. The mean of Chinese treebanks is 1.6 characters, so that this drops rather too many
  sentences;
* a sentence ends at ``. ! ? …`` and their like, closing quotes included. Where more text follows after white space, or
  directly after an ideographic mark, there are several sentences. A full stop of an initial or of an abbreviation in
  Moses' lists does not count;
* a sentence is complete if it begins with neither a lower-case letter nor dots, and ends with an ending mark other than
  an ellipsis.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable
from functools import cache

_SPACELESS = re.compile(
    r"[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff"  # Thai, Lao, Burmese, Khmer
    r"\u3005\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]"  # kana, Han
)
_CLOSING = "\"'’”»)\\]」』）】"
_MARKS = ".!?…。！？｡؟।"
_IDEOGRAPHIC = "。！？｡"
_END = re.compile(f"[{_MARKS}]+[{_CLOSING}]*$")
_INNER_END = re.compile(rf"(\S*?)([{_MARKS}]+)[{_CLOSING}]*(?:\s+|(?<=[{_IDEOGRAPHIC}])(?=[^{_MARKS}{_CLOSING}\s]))")
_TRAILING_DOTS = re.compile(f"(\\.\\.+|…)[{_CLOSING}]*$")
_ELIDED = re.compile(r"^['’`][a-z]\s+")  # Dutch sentences begin with 't, 's or 'k in lower case
_OPTIONAL = re.compile(
    "[\u0300-\u036f\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20ff\ufe20-\ufe2f"  # accents that do not compose
    "\u0591-\u05c7\u0610-\u061a\u064b-\u065f\u0670\u06d6-\u06ed"  # points of Hebrew and Arabic
    "\ufe00-\ufe0f\U000e0100-\U000e01ef]"  # selectors of a variant
)
_OPENING = re.compile(r"^[^\w.…]*")

Test = Callable[[str, str, int], bool]


def words(text: str) -> int:
    """How many words a sentence has, by its writing alone."""
    spaceless = len(_SPACELESS.findall(text))
    spaced = _SPACELESS.sub(" ", text).split()
    return sum(any(map(str.isalnum, word)) for word in spaced) + (spaceless + 1) // 2


def too_short(text: str, language: str, least: int) -> bool:
    return words(text) < least


def several_sentences(text: str, language: str, least: int) -> bool:
    for found in _INNER_END.finditer(text):
        before, marks = found.groups()
        rest = text[found.end() :]
        if not any(character.isalnum() for character in rest):
            continue
        if marks == "." and (_is_initial(before) or before.lstrip("\"'(¿¡«„“").lower() in _abbreviations(language)):
            continue
        first = next(character for character in rest if character.isalnum())
        if marks[-1] in ".…" and first.islower():
            continue  # "the co. that …", "well… yes": a full stop alone does not end a sentence there
        return True
    return False


def incomplete(text: str, language: str, least: int) -> bool:
    if not _END.search(text) or _TRAILING_DOTS.search(text):
        return True
    start = _OPENING.sub("", _ELIDED.sub("", text))
    return not start or start[0] in ".…" or start[0].islower()


FILTERS: dict[str, Test] = {"short": too_short, "several": several_sentences, "incomplete": incomplete}
"""By the names that options and counts use, in the order in which they are asked."""


def tidy(text: str) -> str:
    """A sentence in Unicode's composed form (NFC) with single spaces, and without control and format characters.

    Zero-width joiners stay: they are part of the spelling of some scripts.
    """
    text = unicodedata.normalize("NFC", text)
    if not text.isprintable():  # quick for nearly all
        kept = (
            " " if character.isspace() else character
            for character in text
            if character.isspace() or character in "\u200c\u200d" or unicodedata.category(character)[0] != "C"
        )
        text = "".join(kept)
    return " ".join(text.split())


def folded(text: str) -> str:
    """A sentence's letters and digits, without case, width, punctuation and spaces. Two sentences with the same key
    count as the same when one of them must not be in the training text. Vowel signs and tone marks, as of Hindi and
    Thai, are part of it; points that Hebrew and Arabic may leave out are not. A sentence that has only punctuation
    stays as it is."""
    plain = "".join(filter(_is_spelling, unicodedata.normalize("NFKC", text).casefold()))
    return plain or text


def _is_spelling(character: str) -> bool:
    return character.isalnum() or (unicodedata.category(character) in ("Mc", "Mn") and not _OPTIONAL.match(character))


@cache
def _abbreviations(language: str) -> frozenset[str]:
    from sacremoses.corpus import NonbreakingPrefixes

    code = language if language in NonbreakingPrefixes().available_langs.values() else "en"
    return frozenset(prefix.lower() for prefix in NonbreakingPrefixes().words(code))


def _is_initial(word: str) -> bool:
    return (len(word) == 1 and word.isupper()) or "." in word.strip(".")
