"""An unknown word of a translation becomes what the source word it attends to means, or that word.

Kumar & Tsvetkov 2019, "Von Mises-Fisher Loss for Training Sequence to Sequence Models with Continuous
Outputs", section 4. The source word with the most attention is translated by a dictionary where it knows the word, and
copied where not. Nothing but ``<unk>`` is ever changed. A word may come to stand there twice, and a number in the
source is copied as it is.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from fairseq_xl.text.subwords import whole_words

UNKNOWN = "<unk>"


@dataclass
class Counts:
    """What became of the unknown words."""

    translated: int = 0
    copied: int = 0
    left: int = 0

    def __str__(self) -> str:
        total = self.translated + self.copied + self.left
        return (
            f"{total} unknown words: {self.translated} translated by the lexicon, {self.copied} copied"
            f" from the source, {self.left} left"
        )


def attended_word(weights: np.ndarray, words: Sequence[str], expected: float, max_distance: float) -> int | None:
    """Which word is attended to most, of those that an unknown word can stand for.

    Args:
        weights: (W,) attention to each word, its pieces' together.
        words: of the source; those without a letter or digit are passed over.
        expected: where the word would stand if both languages had one order.
        max_distance: words further from there are passed over.

    Returns:
        a position; None where none is left.
    """
    fit = [
        place
        for place, word in enumerate(words)
        if any(map(str.isalnum, word)) and abs(place - expected) <= max_distance
    ]
    return max(fit, key=lambda place: weights[place], default=None)


def replace_unk(
    tokens: Sequence[str],
    attention: np.ndarray,
    source: Sequence[str],
    lexicon: Mapping[str, str],
    counts: Counts,
    subwords: str | None = None,
    replace_unk_distance: float = np.inf,
) -> list[str]:
    """The tokens of a translation, unknown ones replaced.

    Args:
        tokens: (T) of the translation.
        attention: (T, S) or more rows; row t shows where token t attends.
        source: (S) tokens, as the text spells them.
        lexicon: translations of words; empty to copy every word.
        counts: is brought up to date.
        subwords: one of :data:`~fairseq_xl.text.subwords.SUBWORDS`, how the source's pieces are marked, or None.
        replace_unk_distance: how far from the diagonal the source word may be, in words.
    """
    words, belongs = whole_words(source, subwords)
    found = list(tokens)
    for place, token in enumerate(tokens):
        if token != UNKNOWN:
            continue
        weights = np.bincount(belongs, attention[place], minlength=len(words))
        expected = (place + 0.5) / len(tokens) * len(words) - 0.5
        chosen = attended_word(weights, words, expected, replace_unk_distance)
        if chosen is None:
            counts.left += 1
        elif words[chosen] in lexicon:
            found[place] = lexicon[words[chosen]]
            counts.translated += 1
        else:
            found[place] = words[chosen]
            counts.copied += 1
    return found
