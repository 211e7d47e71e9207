"""A high-resource language's labelled text, word for word in the low-resource language's words.

    FILE,lexicon=en-es.tsv        what ``fairseq-xl data lexicon`` learnt from parallel text, best translation first

Trigrams of another language's words are evidence of nothing; those of their translations are, however bad the
sentence. A word without a translation stays as it is. The control deals the translations out among the words.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import regex

from fairseq_xl.io.errors import InputError
from fairseq_xl.io.labelled import Example, Source
from fairseq_xl.io.lexicons import read_translations

WORD = regex.compile(r"[\p{L}\p{M}\p{N}]+(?:['’][\p{L}\p{M}\p{N}]+)*")


@dataclass(frozen=True)
class HighResourceSource(Source):
    """A source whose texts may be translated word for word."""

    KEYS = (*Source.KEYS, "lexicon")

    def translated(self, shuffled: int | None = None) -> Iterator[Example]:
        """The texts, by the lexicon where one is named.

        Args:
            shuffled: None, or the seed by which the translations are dealt out.

        Raises:
            InputError: what :meth:`examples` and :func:`read_translations` raise; a lexicon without words, or with no
                word of the texts for training.
        """
        if "lexicon" not in self.options:
            yield from self.examples()
            return
        known = _read_lexicon(Path(self.options["lexicon"]), shuffled)
        met: set[bool] = set()  # whether the lexicon has a word of the texts

        def replaced(match: regex.Match[str]) -> str:
            translation = known.get(match[0]) or known.get(match[0].lower())
            met.add(translation is not None)
            return translation or match[0]

        for example in self.examples():
            yield replace(example, text=WORD.sub(replaced, example.text))
        # A good lexicon may have none of the words of a few validation sentences.
        if self.split == "train" and met == {False}:
            raise InputError(
                f"{self.options['lexicon']} translates no word of {self.path}: name what `fairseq-xl data lexicon` "
                "learnt from that language into the low-resource one"
            )


def _read_lexicon(path: Path, shuffled: int | None) -> dict[str, str]:
    """The best translation of each word; dealt out among the words where ``shuffled`` is a seed.

    Raises:
        InputError: what :func:`read_translations` raises.
    """
    known = read_translations(path)
    if shuffled is not None:
        dealt = np.random.default_rng(shuffled).permutation(len(known))
        values = list(known.values())
        known = {word: values[place] for word, place in zip(known, dealt, strict=True)}
    return known
