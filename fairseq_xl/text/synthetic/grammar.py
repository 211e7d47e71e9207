"""Draws sentences of Qelmi with their English; :mod:`fairseq_xl.text.synthetic.generator` has the grammar."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeVar

from fairseq_xl.text.synthetic import english
from fairseq_xl.text.synthetic.lexicon import BACK_VOWELS, FRONT_VOWELS, Noun, Verb, lexicon

AGREEMENT = {"1.SG": "tA", "1.PL": "tAm", "2.SG": "sU", "2.PL": "sUm"}
CASE = {"NOM": "", "ACC": "Un", "DAT": "kA"}
TENSE = {"PRS": "Ar", "PST": "Ud"}
PLURAL = "mA"

_Item = TypeVar("_Item")


def attach(stem: str, *suffixes: str) -> str:
    """``stem`` with ``suffixes`` in vowel harmony: ``attach("tolu", "Un") == "tolujun"``."""
    word = stem
    vowel = next(letter for letter in reversed(stem) if letter in BACK_VOWELS + FRONT_VOWELS)
    harmony = {"A": "a", "U": "u"} if vowel in BACK_VOWELS else {"A": "e", "U": "i"}
    for suffix in suffixes:
        spelt = "".join(harmony.get(letter, letter) for letter in suffix)
        if spelt and spelt[0] in "aeui" and word[-1] in BACK_VOWELS + FRONT_VOWELS:
            spelt = "j" + spelt
        word += spelt
    return word


@dataclass(frozen=True)
class Pair:
    """A sentence and its translation as tokens; ``gloss`` has one entry for each source token."""

    source: tuple[str, ...]
    target: tuple[str, ...]
    gloss: tuple[str, ...]


@dataclass(frozen=True)
class _Phrase:
    """A phrase in both languages; source words are (form, gloss). A verb agrees with the rest."""

    source: list[tuple[str, str]]
    target: list[str]
    agreement: str = ""
    third_singular: bool = False


class Grammar:
    """Draws sentences; the same seed draws the same ones in the same order."""

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)
        self._words = lexicon()

    def sentence(self) -> Pair:
        """One sentence: a statement, a question, or a statement with a subordinate clause."""
        subordinate = self._chance(0.08)
        question = not subordinate and self._chance(0.08)
        clause = self._clause(question)
        source, target = clause.source, clause.target
        if subordinate:
            conjunction = self._zipf(("because", "when", "before"))
            other = self._clause(question=False, subordinate=True)
            source = [*other.source, self._word(conjunction), *source]
            target = [*target, conjunction, *other.target]
        stop = "?" if question else "."
        source = [*source, *([self._word("Q")] if question else []), (stop, stop)]
        forms, glosses = zip(*source, strict=True)
        return Pair(forms, (*target, stop), glosses)

    def _clause(self, question: bool, subordinate: bool = False) -> _Phrase:
        verb = self._zipf(self._words.verbs)
        when = "" if subordinate or self._chance(0.8) else self._zipf(tuple(self._words.time))
        future = 0.0 if subordinate else 0.15
        tense = self._weighted({"past": 0.5, "present": 0.35, "future": future})
        tense = self._words.time.get(when, tense)
        negated = self._chance(0.1)
        subject = self._subject(verb, relative=not subordinate)
        objects = self._object(verb, subject, relative=not subordinate)
        recipient = self._recipient(verb)
        place = _Phrase([], []) if subordinate else self._place(verb)
        manner = "" if subordinate or self._chance(0.85) else self._zipf(self._words.manner)

        finite = self._finite(verb, tense, subject.agreement)
        if tense == "future":
            finite.append(self._word("FUT"))
        if negated:
            finite.append(self._word("NEG"))
        before, lexical = _english_verb(verb.lemma, tense, subject.third_singular, negated, question)
        auxiliary, rest = (before[:1], before[1:]) if question else ([], before)
        return _Phrase(
            source=[
                *([self._word(when)] if when else []),
                *subject.source,
                *place.source,
                *recipient.source,
                *objects.source,
                *([self._word(manner)] if manner else []),
                *finite,
            ],
            target=[
                *auxiliary,
                *subject.target,
                *rest,
                lexical,
                *objects.target,
                *recipient.target,
                *([manner] if manner else []),
                *place.target,
                *([when] if when else []),
            ],
        )

    def _subject(self, verb: Verb, relative: bool) -> _Phrase:
        if "person" in verb.subjects and self._chance(0.3):
            return self._pronoun("NOM")
        kind = "person" if "person" in verb.subjects and self._chance(0.6) else ""
        return self._noun_phrase(kind or self._pick(verb.subjects), "NOM", relative)

    def _object(self, verb: Verb, subject: _Phrase, relative: bool) -> _Phrase:
        if not verb.objects:
            return _Phrase([], [])
        kind = self._pick(verb.objects)
        if kind == "person" and self._chance(0.4):
            pronoun = self._pronoun("ACC")
            if pronoun.source[0][1].split("-")[0] != subject.source[0][1].split("-")[0]:
                return pronoun
        return self._noun_phrase(kind, "ACC", relative)

    def _recipient(self, verb: Verb) -> _Phrase:
        if verb.extra != "recipient":
            return _Phrase([], [])
        pronoun = self._chance(0.4)
        phrase = self._pronoun("DAT") if pronoun else self._noun_phrase("person", "DAT", False)
        return _Phrase(phrase.source, ["to", *phrase.target])

    def _place(self, verb: Verb) -> _Phrase:
        if verb.extra == "goal" and self._chance(0.6):
            goal = self._noun_phrase("place", "DAT", relative=False)
            return _Phrase(goal.source, ["to", *goal.target])
        if not self._chance(0.25):
            return _Phrase([], [])
        preposition = self._zipf(self._words.prepositions)
        phrase = self._noun_phrase(self._pick(preposition.kinds), "NOM", relative=False)
        return _Phrase([*phrase.source, (preposition.stem, preposition.lemma)], [preposition.lemma, *phrase.target])

    def _pronoun(self, case: str) -> _Phrase:
        pronoun = self._zipf(self._words.pronouns)
        form, gloss = attach(pronoun.stem, CASE[case]), pronoun.subject
        return _Phrase(
            [(form, gloss if case == "NOM" else f"{gloss}-{case}")],
            [pronoun.subject if case == "NOM" else pronoun.object],
            pronoun.agreement,
            pronoun.third_singular,
        )

    def _noun_phrase(self, kind: str, case: str, relative: bool) -> _Phrase:
        noun = self._zipf(self._words.nouns[kind])
        determiner, plural = self._determiner(noun)
        counted = determiner in self._words.numerals
        agreement = f"{noun.gender}.{'PL' if plural and not counted else 'SG'}"
        singular = not plural

        source = [self._noun(noun, agreement, case)]
        target = [english.plural(noun.lemma) if plural else noun.lemma]
        fitting = tuple(word for word in self._words.adjectives if kind in word.kinds)
        if fitting and self._chance(0.3):
            adjective = self._zipf(fitting)
            source.append(self._agreeing(adjective.stem, adjective.lemma, agreement))
            target.insert(0, adjective.lemma)
        if determiner in ("DEF", "this", "that"):
            source.append(self._agreeing(self._words.words[determiner], determiner, agreement))
        elif determiner:
            source.append(self._word(determiner))
        target = [*_english_determiner(determiner, noun, plural, target[0]), *target]
        if relative and kind in ("person", "animal") and self._chance(0.1):
            clause = self._relative_clause(kind, agreement, singular)
            source = [*clause.source, *source]
            target = [*target, *clause.target]
        return _Phrase(source, target, agreement, singular)

    def _determiner(self, noun: Noun) -> tuple[str, bool]:
        """A determiner (empty: none) and whether the English noun is plural."""
        plural = not noun.mass and self._chance(0.3)
        determiner = self._weighted(
            {"DEF": 0.45, "": 0.2, "POSS": 0.14, "COUNT": 0.09, "this": 0.05, "that": 0.04, "every": 0.03}
        )
        if determiner == "POSS":
            return self._zipf(self._words.possessives), plural
        if noun.mass and determiner in ("COUNT", "every"):
            return "DEF", False
        if determiner == "COUNT":
            return self._zipf(self._words.numerals), True
        return determiner, plural and determiner != "every"

    def _relative_clause(self, kind: str, agreement: str, singular: bool) -> _Phrase:
        """A clause about a noun of class ``kind``, which is its subject."""
        verb = self._zipf(tuple(verb for verb in self._words.verbs if kind in verb.subjects))
        tense = self._weighted({"past": 0.6, "present": 0.4})
        objects = _Phrase([], [])
        if verb.objects:
            objects = self._noun_phrase(self._pick(verb.objects), "ACC", relative=False)
        recipient = self._recipient(verb)
        _, lexical = _english_verb(verb.lemma, tense, singular, negated=False, question=False)
        return _Phrase(
            [*recipient.source, *objects.source, *self._finite(verb, tense, agreement), self._word("REL")],
            ["who" if kind == "person" else "that", lexical, *objects.target, *recipient.target],
        )

    def _noun(self, noun: Noun, agreement: str, case: str) -> tuple[str, str]:
        plural = agreement.endswith("PL")
        form = attach(noun.stem, PLURAL if plural else "", CASE[case])
        gloss = f"{noun.lemma}.{noun.gender}" + ("-PL" if plural else "")
        return form, gloss if case == "NOM" else f"{gloss}-{case}"

    def _finite(self, verb: Verb, tense: str, agreement: str) -> list[tuple[str, str]]:
        mark = "PST" if tense == "past" else "PRS"
        form = attach(verb.stem, TENSE[mark], AGREEMENT[agreement])
        return [(form, f"{verb.lemma}-{mark}-{agreement}")]

    def _agreeing(self, stem: str, lemma: str, agreement: str) -> tuple[str, str]:
        return attach(stem, AGREEMENT[agreement]), f"{lemma}-{agreement}"

    def _word(self, lemma: str) -> tuple[str, str]:
        return self._words.words[lemma], lemma

    # Random.random() alone is promised to be the same in every version of Python, so all draws come
    # from it.
    def _chance(self, probability: float) -> bool:
        return self._random.random() < probability

    def _pick(self, items: Sequence[_Item]) -> _Item:
        return items[int(self._random.random() * len(items))]

    def _zipf(self, items: Sequence[_Item]) -> _Item:
        return items[self._index([1 / (rank + 1.5) for rank in range(len(items))])]

    def _weighted(self, weights: dict[str, float]) -> str:
        return list(weights)[self._index(list(weights.values()))]

    def _index(self, weights: list[float]) -> int:
        point = self._random.random() * sum(weights)
        for index, weight in enumerate(weights):
            point -= weight
            if point < 0:
                return index
        return len(weights) - 1


def _english_determiner(determiner: str, noun: Noun, plural: bool, next_word: str) -> list[str]:
    if determiner == "DEF":
        return ["the"]
    if determiner in ("this", "that"):
        return [{"this": "these", "that": "those"}[determiner] if plural else determiner]
    if determiner:
        return [determiner]
    return [] if plural or noun.mass else [english.indefinite_article(next_word)]


def _english_verb(lemma: str, tense: str, third_singular: bool, negated: bool, question: bool) -> tuple[list[str], str]:
    """Auxiliary and negation, then the verb's form: ``(["does", "not"], "eat")``."""
    if tense == "future":
        return ["will", *(["not"] if negated else [])], lemma
    if negated or question:
        do = "did" if tense == "past" else "does" if third_singular else "do"
        return [do, *(["not"] if negated else [])], lemma
    if tense == "past":
        return [], english.past(lemma)
    return [], english.third_person(lemma) if third_singular else lemma
