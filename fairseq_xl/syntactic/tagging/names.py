"""The proper names of a corpus, which its taggers must learn.

Every tenth sentence of Tatoeba is about Tom. Treebanks have other names, and Tom's word vector is like those of
pronouns. A tagger that learned from both tagged him as a pronoun in nine of ten German sentences. So the names of the
corpus replace those of a treebank in a second copy of its sentences (:func:`renamed`).

A name is spelled the same in English and in the other language, and English writes it with a capital letter inside
sentences, too.
"""

from __future__ import annotations

import math
import random
import re
from collections import Counter
from collections.abc import Iterable, Mapping

from fairseq_xl.text.conllu import Sentence

_WORD = re.compile(r"[^\W\d_]+")


def names(pairs: Iterable[tuple[str, str]], least: int = 10) -> Counter[str]:
    """Names by the number of pairs that have them on both sides.

    Args:
        pairs: English sentences and their translations into a language that writes with spaces and capital letters;
            into others, the result is empty.
        least: pairs that must have a name.
    """
    shared: Counter[str] = Counter()
    inside: Counter[str] = Counter()
    for english, other in pairs:
        first, *rest = _WORD.findall(english) or [""]
        inside.update(set(rest))
        both = {first, *rest} & set(_WORD.findall(other))
        shared.update(word for word in both if word[:1].isupper() and word[1:].islower())
    return Counter(
        {word: count for word, count in shared.items() if count >= least and inside[word] > 9 * inside[word.lower()]}
    )


def renamed(sentence: Sentence, names: Mapping[str, int], draw: random.Random) -> Sentence | None:
    """The sentence with another name for each proper noun; None where it has none.

    A name is drawn by the square root of its frequency, so that the others are not lost beside Tom.
    """
    place, starts = 0, []
    for size in sentence.sizes:
        starts.append(place)
        place += size
    spans = zip(starts, sentence.sizes, strict=True)
    proper = [sentence.upos[start : start + size] == ("PROPN",) for start, size in spans]
    if not names or not any(proper):
        return None
    tokens, text, rest = [], "", sentence.text
    words = list(sentence.words)
    for token, start, is_proper in zip(sentence.tokens, starts, proper, strict=True):
        before, found, rest = rest.partition(token)
        if not found:
            return None  # a token with a space inside that the text writes otherwise
        new = draw.choices([*names], [*map(math.sqrt, names.values())])[0] if is_proper else token
        if is_proper:
            words[start] = new
        tokens.append(new)
        text += before + new
    return Sentence(sentence.sent_id, text + rest, tuple(words), sentence.upos, tuple(tokens), sentence.sizes)
