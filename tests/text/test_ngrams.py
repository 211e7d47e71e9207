"""Character n-grams of grapheme clusters."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fairseq_xl.text.ngrams import SPACE, graphemes, ngrams, normalise

SCRIPTS = st.text(st.sampled_from("aéi ̈́కలు్ర్యాతెలక्षिমा💪🏽👩‍🚀🇪🇸❤Ⓜ\ufe0f\u200d \t\n\x85"), max_size=30)


def test_trigrams_of_a_sentence():
    assert ngrams("Hi you") == ["▁Hi", "Hi▁", "i▁y", "▁yo", "you", "ou▁"]


def test_short_sentences_have_a_trigram():
    assert ngrams("a") == ["▁a▁"]
    assert ngrams("a", (5,)) == ["▁a▁"]
    assert ngrams("") == []


def test_several_orders_stand_together_at_each_place():
    assert ngrams("ab", (3, 1)) == ["▁ab", "▁", "ab▁", "a"]
    assert ngrams("ab", (3, 2, 1)) == ["▁ab", "▁a", "▁", "ab▁", "ab", "a"]


def test_elongations_stay():
    assert "iii" in ngrams(normalise("Hiiii"))
    assert "iii" not in ngrams(normalise("Hi"))


@pytest.mark.parametrize(
    ("text", "characters"),
    [
        ("తెలుగు", ["తె", "లు", "గు"]),  # consonants with vowel signs
        ("त्यौहार", ["त्यौ", "हा", "र"]),  # a conjunct
        ("cafe\u0301", ["c", "a", "f", "é"]),
        ("💪🏽🇪🇸👩‍🚀", ["💪🏽", "🇪🇸", "👩‍🚀"]),  # skin tone, flag, joined emoji
    ],
)
def test_characters(text, characters):
    assert graphemes(normalise(text)) == characters


@given(SCRIPTS)
def test_no_trigram_begins_with_a_combining_mark(text):
    text = normalise(text)
    allowed = {unit[0] for unit in graphemes(text)} | {SPACE}
    for gram in ngrams(text):
        assert gram[0] in allowed
    if not unicodedata.combining(text[:1] or "a"):
        for gram in ngrams(text):
            assert not unicodedata.combining(gram[0])


@given(SCRIPTS)
def test_first_characters_of_the_trigrams_give_the_sentence_back(text):
    text = normalise(text)
    if len(graphemes(text)) > 1:
        inside = [*ngrams(text, (3, 1))[1::2], *graphemes(ngrams(text)[-1])[1:]]
        assert "".join(inside).replace(SPACE, " ") == f" {text} "


@given(SCRIPTS, st.booleans())
def test_normalising_twice_changes_nothing(text, lower):
    once = normalise(text, lower)
    assert normalise(once, lower) == once
    assert unicodedata.is_normalized("NFC", once)
    assert not any(c.isspace() and c != " " for c in once)


def test_what_is_left_of_an_emoji_that_was_taken_out_goes():
    """In TweetEval's emoji tweets it would tell the class."""
    assert normalise("\ufe0f \ufe0f My dog! \ufe0f\ufe0f\ufe0f #love \ufe0f") == "My dog! #love"
    assert normalise("bonito\ufe0f") == "bonito"
    assert normalise("I ❤\ufe0f you 1\ufe0f\u20e3") == "I ❤\ufe0f you 1\ufe0f\u20e3", "those of emoji stay"
    assert normalise("e\ufe0f\u0301") == "é"
    assert normalise("Ⓜ\ufe0f", lower=True) == "ⓜ"


def test_case_is_folded_on_request_only():
    assert normalise("Ärger  IN\tIstanbul") == "Ärger IN Istanbul"
    assert normalise("ÄRGER", lower=True) == "ärger"
