"""English word forms for the generated corpus: plurals, third person, past, indefinite article.

Rules give regular forms, and tables hold the irregular words. The rules cover the words of
:mod:`fairseq_xl.text.synthetic.lexicon`, not the whole of English. List a word here before it joins the lexicon if it
doubles its last consonant or takes ``an`` before a consonant letter.
"""

from __future__ import annotations

_IRREGULAR_PLURALS = {
    "man": "men",
    "woman": "women",
    "child": "children",
    "mouse": "mice",
    "wolf": "wolves",
    "knife": "knives",
    "leaf": "leaves",
    "tomato": "tomatoes",
}

_IRREGULAR_PASTS = {
    "eat": "ate",
    "drink": "drank",
    "see": "saw",
    "read": "read",
    "find": "found",
    "buy": "bought",
    "sell": "sold",
    "bring": "brought",
    "give": "gave",
    "write": "wrote",
    "wear": "wore",
    "ride": "rode",
    "drive": "drove",
    "sleep": "slept",
    "run": "ran",
    "sing": "sang",
    "fall": "fell",
    "grow": "grew",
    "break": "broke",
    "catch": "caught",
    "meet": "met",
    "stop": "stopped",
}

_VOWELS = "aeiou"


def plural(noun: str) -> str:
    """The plural of a count noun: ``wolf`` -> ``wolves``, ``box`` -> ``boxes``."""
    return _IRREGULAR_PLURALS.get(noun) or _with_s(noun)


def third_person(verb: str) -> str:
    """The third person singular present: ``carry`` -> ``carries``."""
    return _with_s(verb)


def past(verb: str) -> str:
    """The simple past: ``see`` -> ``saw``, ``carry`` -> ``carried``, ``like`` -> ``liked``."""
    if verb in _IRREGULAR_PASTS:
        return _IRREGULAR_PASTS[verb]
    if verb.endswith("e"):
        return verb + "d"
    if verb.endswith("y") and verb[-2] not in _VOWELS:
        return verb[:-1] + "ied"
    return verb + "ed"


def indefinite_article(next_word: str) -> str:
    """``an`` before a vowel letter, else ``a``."""
    return "an" if next_word[0] in _VOWELS else "a"


def _with_s(word: str) -> str:
    if word.endswith(("s", "x", "ch", "sh")):
        return word + "es"
    if word.endswith("y") and word[-2] not in _VOWELS:
        return word[:-1] + "ies"
    return word + "s"
