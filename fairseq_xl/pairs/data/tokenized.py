"""Pairs with their words: what files of pairs hold, tokenised."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

from fairseq_xl.pairs.data.source import Pair, PairSource
from fairseq_xl.pairs.data.tokenizer import Tokenizer


@dataclass(frozen=True)
class TokenizedPair:
    """A pair, its id and split, its words, and those of its translations where their languages are given."""

    id: str
    split: str
    pair: Pair
    sides: tuple[str, str]
    translations: tuple[str, str] | None


def read_pairs(sources: Iterable[PairSource], tokenizer: Tokenizer) -> list[TokenizedPair]:
    """All pairs of some files. A file that is given twice has another name the second time, so that ids are unique."""
    found = []
    names: Counter[str] = Counter()
    for source in sources:
        names[source.path.name] += 1
        again = names[source.path.name]
        name = source.path.name + (f"#{again}" if again > 1 else "")
        for pair in source.pairs():
            left, right = source.languages or (None, None)
            sides = tokenizer.sentence(pair.left, left), tokenizer.sentence(pair.right, right)
            translations = None
            if pair.translations and source.translation_languages:
                (one, other), (left, right) = pair.translations, source.translation_languages
                translations = tokenizer.sentence(one, left), tokenizer.sentence(other, right)
            line = pair.where.rpartition(" ")[2]
            found.append(TokenizedPair(f"{name}:{line}", source.split, pair, sides, translations))
    return found
