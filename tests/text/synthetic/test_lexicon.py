"""The words of both languages."""

from __future__ import annotations

from itertools import chain

from fairseq_xl.text.synthetic.grammar import Pair
from fairseq_xl.text.synthetic.lexicon import BACK_VOWELS, FRONT_VOWELS, lexicon


def test_no_two_words_share_a_form(pairs: list[Pair]) -> None:
    glosses: dict[str, str] = {}
    for pair in pairs:
        assert len(pair.source) == len(pair.gloss)
        for form, gloss in zip(pair.source, pair.gloss, strict=True):
            assert glosses.setdefault(form, gloss) == gloss


def test_stems_differ_and_have_vowels_of_one_kind() -> None:
    words = lexicon()
    kinds = [chain(*words.nouns.values()), words.adjectives, words.verbs, words.pronouns, words.prepositions]
    stems = [*words.words.values(), *(word.stem for word in chain(*kinds))]
    assert len(set(stems)) == len(stems)
    for stem in stems:
        assert bool(set(stem) & set(BACK_VOWELS)) != bool(set(stem) & set(FRONT_VOWELS)), stem


def test_every_class_of_nouns_that_a_word_names_has_nouns() -> None:
    words = lexicon()
    named = chain(
        *(adjective.kinds for adjective in words.adjectives),
        *(chain(verb.subjects, verb.objects) for verb in words.verbs),
        *(preposition.kinds for preposition in words.prepositions),
    )
    assert set(named) <= {kind for kind, nouns in words.nouns.items() if nouns}
