"""Proper names for taggers."""

from __future__ import annotations

import random

from fairseq_xl.syntactic.tagging.names import names, renamed
from fairseq_xl.text.conllu import Sentence

PAIRS = [
    ("Tom knows Mary.", "Tom kennt Mary."),
    ("I see Tom in Boston.", "Ich sehe Tom in Boston."),
    ("Hand him the arm.", "Die Hand und der Arm."),
    ("A hand is an arm, says Tom.", "Eine Hand ist ein Arm, sagt Tom."),
    ("He is in Berlin.", "Er ist in Rom."),
    ("I am in.", "IN ist I."),
]


def test_names_are_what_both_sides_spell_alike_and_english_capitalises():
    assert names(PAIRS, 1) == {"Tom": 3, "Mary": 1, "Boston": 1}
    assert names(PAIRS, 2) == {"Tom": 3}
    assert names([("I see Tom.", "나는 톰을 본다."), ("", "")], 1) == {}


def test_names_take_the_place_of_proper_nouns():
    sentence = Sentence(
        "s",
        "Fritz  ging zum Rathaus, sagt Fritz.",
        ("Fritz", "ging", "zu", "dem", "Rathaus", ",", "sagt", "Fritz", "."),
        ("PROPN", "VERB", "ADP", "DET", "NOUN", "PUNCT", "VERB", "PROPN", "PUNCT"),
        ("Fritz", "ging", "zum", "Rathaus", ",", "sagt", "Fritz", "."),
        (1, 1, 2, 1, 1, 1, 1, 1),
    )
    found = renamed(sentence, {"Tom": 1}, random.Random(1))
    assert found.text == "Tom  ging zum Rathaus, sagt Tom."
    assert found.tokens == ("Tom", "ging", "zum", "Rathaus", ",", "sagt", "Tom", ".")
    assert found.words == ("Tom", "ging", "zu", "dem", "Rathaus", ",", "sagt", "Tom", ".")
    assert (found.upos, found.sizes) == (sentence.upos, sentence.sizes)
    drawn = {renamed(sentence, {"Tom": 1, "Mary": 1}, random.Random(seed)).text for seed in range(30)}
    assert len(drawn) == 4


def test_sentences_without_proper_nouns_have_no_second_copy():
    words = ("Er", "ging", ".")
    sentence = Sentence("s", "Er ging.", words, ("PRON", "VERB", "PUNCT"), words, (1, 1, 1))
    assert renamed(sentence, {"Tom": 1}, random.Random(1)) is None
    contraction = Sentence("s", "Toms", ("Tom", "'s"), ("PROPN", "AUX"), ("Toms",), (2,))
    assert renamed(contraction, {"Tom": 1}, random.Random(1)) is None
