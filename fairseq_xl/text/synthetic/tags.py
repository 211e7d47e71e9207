"""The universal part of speech of each English word of the generated corpus: gold, since the words are ours."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

from fairseq_xl.text.synthetic.english import past, plural, third_person
from fairseq_xl.text.synthetic.lexicon import lexicon

_CLOSED = {
    "DET": "the a an this that these those every",
    "AUX": "do does did will",
    "PART": "not",
    "ADP": "to",
    "SCONJ": "because when before",
    "PRON": "who",
    "PUNCT": ". ?",
    "ADJ": "many",
}


@cache
def _tags() -> dict[str, str]:
    words = lexicon()
    found = {numeral: "NUM" for numeral in words.numerals}
    found |= {word: tag for tag, members in _CLOSED.items() for word in members.split()}
    found |= dict.fromkeys((*words.manner, *words.time), "ADV")
    found |= dict.fromkeys((preposition.lemma for preposition in words.prepositions), "ADP")
    pronouns = {form for pronoun in words.pronouns for form in (pronoun.subject, pronoun.object)}
    found |= dict.fromkeys((*pronouns, *words.possessives), "PRON")
    found |= dict.fromkeys((adjective.lemma for adjective in words.adjectives), "ADJ")
    for verb in words.verbs:
        found |= dict.fromkeys((verb.lemma, third_person(verb.lemma), past(verb.lemma)), "VERB")
    for nouns in words.nouns.values():
        for noun in nouns:
            found |= dict.fromkeys((noun.lemma, plural(noun.lemma)), "NOUN")
    return found


def universal_tags(words: Sequence[str]) -> list[str]:
    """The tags of a sentence of the English side.

    >>> universal_tags("the dog that she saw ran .".split())
    ['DET', 'NOUN', 'PRON', 'PRON', 'VERB', 'VERB', 'PUNCT']
    """
    tags = [_tags()[word] for word in words]
    for place, word in enumerate(words[:-1]):
        if word == "that" and tags[place + 1] in ("VERB", "AUX", "PRON"):
            tags[place] = "PRON"  # of a relative clause
    return tags
