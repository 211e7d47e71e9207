"""The words of the generated corpus: English lemmas with their meaning classes, and Qelmi stems.

Within each list common words come first: draws are Zipf-like (weight ``1 / (rank + 1.5)``). The
digit after a noun is its Qelmi gender (1 or 2); ``m`` marks a mass noun, which has no plural.
Stems are not listed but made, once, from a seed of their own, so that every corpus, whatever its
seed, is in the same language.
"""

from __future__ import annotations

import random
from dataclasses import dataclass
from functools import cache

_NOUNS = {
    "person": "man1 woman2 child2 girl2 boy1 farmer1 teacher2 doctor2 king1 queen2 soldier1 baker1 student2 merchant1",
    "animal": "dog1 cat2 horse1 bird2 cow2 wolf1 mouse2 fox1 goat2",
    "food": "apple2 bread1m fish1m cake2 egg2 cheese1m soup2 orange1 tomato1",
    "drink": "water2m milk1m tea2m juice1m",
    "text": "book1 letter2 story2 poem1",
    "clothing": "hat1 coat2 shirt1 dress2 scarf1",
    "tool": "knife1 hammer2 rope2 basket1 umbrella2 lamp1",
    "vehicle": "car2 cart1 boat2 truck1",
    "furniture": "table2 chair1 bed1 bench2",
    "place": "house1 garden2 market2 river1 forest2 school1 village2 kitchen1 castle1 island2",
    "plant": "tree1 flower2 leaf1",
}

# lemma: the noun classes it can describe
_ADJECTIVES = {
    "big": "animal clothing tool vehicle furniture place plant food",
    "small": "person animal clothing tool vehicle furniture place plant food",
    "old": "person animal text clothing tool vehicle furniture place plant",
    "young": "person animal",
    "red": "clothing tool vehicle plant furniture",
    "happy": "person",
    "tired": "person animal",
    "fresh": "food drink",
    "green": "clothing vehicle plant furniture",
    "angry": "person animal",
    "new": "text clothing tool vehicle furniture",
    "hungry": "person animal",
    "sweet": "food drink",
    "quiet": "person place",
    "interesting": "text place",
    "cold": "food drink",
    "blue": "clothing vehicle furniture",
    "clever": "person",
    "ugly": "clothing vehicle furniture",
    "dark": "place",
    "long": "text",
}

_ANIMATE = "person animal"
_THING = "food text clothing tool vehicle furniture"

# lemma: who does it, to what ("" = intransitive), what else it takes
_VERBS = {
    "see": (f"{_ANIMATE}", f"person animal {_THING} place plant", ""),
    "eat": (f"{_ANIMATE}", "food", ""),
    "like": ("person", f"person animal drink {_THING} plant", ""),
    "buy": ("person", f"animal drink {_THING} plant", ""),
    "drink": (f"{_ANIMATE}", "drink", ""),
    "run": (f"{_ANIMATE}", "", "goal"),
    "find": ("person", f"animal {_THING} plant", ""),
    "read": ("person", "text", ""),
    "give": ("person", "food drink text clothing tool plant", "recipient"),
    "wear": ("person", "clothing", ""),
    "sleep": (f"{_ANIMATE}", "", ""),
    "walk": (f"{_ANIMATE}", "", "goal"),
    "follow": (f"{_ANIMATE}", "person animal", ""),
    "help": ("person", "person animal", ""),
    "carry": ("person", "food tool clothing text", ""),
    "chase": ("animal", "animal person", ""),
    "meet": ("person", "person", ""),
    "sell": ("person", f"animal drink {_THING} plant", ""),
    "write": ("person", "text", ""),
    "drive": ("person", "vehicle", ""),
    "fear": (f"{_ANIMATE}", "animal", ""),
    "wait": ("person", "", ""),
    "cook": ("person", "food", ""),
    "bring": ("person", "food drink text tool", "recipient"),
    "call": ("person", "person", ""),
    "sing": ("person", "", ""),
    "ride": ("person", "animal", ""),
    "catch": ("animal", "animal food", ""),
    "wash": ("person", "clothing furniture vehicle", ""),
    "fall": ("plant tool clothing", "", ""),
    "grow": ("plant", "", ""),
    "break": ("vehicle tool furniture", "", ""),
    "stop": ("vehicle", "", ""),
}

_PREPOSITIONS = {
    "in": "place",
    "near": "place plant furniture person",
    "with": "person",
    "behind": "place plant furniture vehicle",
    "on": "furniture",
    "under": "furniture plant",
}

_MANNER_ADVERBS = ("quickly", "slowly", "quietly", "often", "happily", "again")
_TIME_ADVERBS = {"yesterday": "past", "today": "present", "now": "present", "tomorrow": "future"}
_NUMERALS = ("two", "three", "many", "four", "five")
_POSSESSIVES = ("my", "his", "your", "her", "our", "their")

# subject form: (object form, Qelmi agreement, takes third-person -s)
_PRONOUNS = {
    "he": ("him", "1.SG", True),
    "she": ("her", "2.SG", True),
    "i": ("me", "1.SG", False),
    "they": ("them", "1.PL", False),
    "we": ("us", "2.PL", False),
    "you": ("you", "2.SG", False),
}

# grammatical words of Qelmi that have no single English word, or whose stem takes agreement
FUNCTION_STEMS = ("DEF", "this", "that", "every", "NEG", "FUT", "Q", "REL", "because", "when", "before")

BACK_VOWELS = "aou"
FRONT_VOWELS = "eiö"
_CONSONANTS = "ptkbdgmnlrsvzh"
_STEM_SEED = 20190719


@dataclass(frozen=True)
class Noun:
    """A noun: English lemma, meaning class, Qelmi gender (1 or 2), mass noun or not, Qelmi stem."""

    lemma: str
    kind: str
    gender: int
    mass: bool
    stem: str


@dataclass(frozen=True)
class Adjective:
    """An adjective and the meaning classes it describes."""

    lemma: str
    kinds: frozenset[str]
    stem: str


@dataclass(frozen=True)
class Verb:
    """A verb, the classes of its subjects and objects; ``extra``: ``goal``, ``recipient`` or ""."""

    lemma: str
    subjects: tuple[str, ...]
    objects: tuple[str, ...]
    extra: str
    stem: str


@dataclass(frozen=True)
class Pronoun:
    """A personal pronoun: English forms, Qelmi agreement (``1.SG`` …), whether verbs take ``-s``."""

    subject: str
    object: str
    agreement: str
    third_singular: bool
    stem: str


@dataclass(frozen=True)
class Preposition:
    """An English preposition (a Qelmi postposition) and the noun classes it governs."""

    lemma: str
    kinds: tuple[str, ...]
    stem: str


@dataclass(frozen=True)
class Lexicon:
    """Every word of both languages, from common to rare; ``words``: the uninflected Qelmi words."""

    nouns: dict[str, tuple[Noun, ...]]
    adjectives: tuple[Adjective, ...]
    verbs: tuple[Verb, ...]
    pronouns: tuple[Pronoun, ...]
    prepositions: tuple[Preposition, ...]
    manner: tuple[str, ...]
    time: dict[str, str]
    numerals: tuple[str, ...]
    possessives: tuple[str, ...]
    words: dict[str, str]


@cache
def lexicon() -> Lexicon:
    """The one lexicon: the same on every call and every machine."""
    stems = _StemMaker()
    invariable = (*FUNCTION_STEMS, *_MANNER_ADVERBS, *_TIME_ADVERBS, *_NUMERALS, *_POSSESSIVES)
    words = {lemma: stems.next() for lemma in invariable}
    prepositions = tuple(
        Preposition(lemma, tuple(kinds.split()), stems.next()) for lemma, kinds in _PREPOSITIONS.items()
    )
    pronouns = tuple(Pronoun(word, *forms, stems.next()) for word, forms in _PRONOUNS.items())
    nouns = {kind: tuple(_noun(entry, kind, stems) for entry in entries.split()) for kind, entries in _NOUNS.items()}
    adjectives = tuple(Adjective(lemma, frozenset(kinds.split()), stems.next()) for lemma, kinds in _ADJECTIVES.items())
    verbs = tuple(
        Verb(lemma, tuple(subjects.split()), tuple(objects.split()), extra, stems.next())
        for lemma, (subjects, objects, extra) in _VERBS.items()
    )
    return Lexicon(
        nouns=nouns,
        adjectives=adjectives,
        verbs=verbs,
        pronouns=pronouns,
        prepositions=prepositions,
        manner=_MANNER_ADVERBS,
        time=dict(_TIME_ADVERBS),
        numerals=_NUMERALS,
        possessives=_POSSESSIVES,
        words=words,
    )


def _noun(entry: str, kind: str, stems: _StemMaker) -> Noun:
    mass = entry.endswith("m")
    bare = entry.removesuffix("m")
    return Noun(bare[:-1], kind, int(bare[-1]), mass, stems.next())


class _StemMaker:
    """Draws harmonic stems of which none begins another, so that no two words share a form."""

    def __init__(self) -> None:
        self._random = random.Random(_STEM_SEED)
        self._made: list[str] = []

    def next(self) -> str:
        while True:
            stem = self._draw()
            if not any(stem.startswith(old) or old.startswith(stem) for old in self._made):
                self._made.append(stem)
                return stem

    def _draw(self) -> str:
        vowels = self._pick((BACK_VOWELS, FRONT_VOWELS))
        shape = self._pick(("CVC", "CVCV", "CVCVC", "VCVC"))
        return "".join(self._pick(_CONSONANTS if slot == "C" else vowels) for slot in shape)

    def _pick(self, options: str | tuple[str, ...]) -> str:
        # not Random.choice: how that turns bits into an index is an implementation detail of Python
        return options[int(self._random.random() * len(options))]
