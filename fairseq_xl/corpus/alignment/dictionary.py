"""A bilingual dictionary learned from lines that should mean the same."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from fairseq_xl.corpus.alignment.translators import WORD
from fairseq_xl.corpus.documents.document import Document
from fairseq_xl.io.errors import InputError
from fairseq_xl.text.lexicons.bitext import Bitext, make_side
from fairseq_xl.text.lexicons.ibm1 import candidates, expected_links
from fairseq_xl.text.lexicons.lexicon import make_lexicon

_ITERATIONS = 5
_MIN_DICE = 0.01
"""Words that meet less often than this are never linked; menus put the same words beside every page's."""


def learn(
    pairs: Iterable[tuple[str, str]], min_dice: float, min_probability: float, min_count: int = 1, progress: bool = True
) -> dict[str, tuple[str, float]]:
    """The best translation of the second lines' words, by IBM model 1, and its probability.

    Args:
        pairs: at least one; lines of words with a space between.
        min_dice: words whose Dice coefficient is below are never linked.
        min_probability: leave out translations below.
        min_count: leave out words with fewer occurrences.
    """
    first, second = (make_side(side) for side in zip(*pairs, strict=True))
    bitext = Bitext(second, first)
    counts = expected_links(bitext, candidates(bitext, min_dice, progress), _ITERATIONS, progress)
    lexicon = make_lexicon(bitext, counts, np.asarray(counts.sum(1)).ravel(), min_probability, min_count)
    return {word: entries[0] for word, entries in lexicon.items()}


def induce(
    documents: Iterable[Document], min_probability: float, min_count: int
) -> tuple[dict[str, tuple[str, float]], int]:
    """Translations of the second language's words, learned from lines at equal positions.

    Pages with unequal numbers of lines are left out, and so are repetitions of a pair of lines, such as menus.

    Args:
        documents: as ``extract`` made them.
        min_probability, min_count: see :func:`learn`.

    Returns:
        the best translation of each word and its probability; how many pairs of lines there were.

    Raises:
        InputError: no page has the same number of lines as its counterpart.
    """
    pairs = {
        (left, right): None
        for document in documents
        if len(document.lines[0]) == len(document.lines[1])
        for left, right in zip(*document.lines, strict=True)
    }
    if not pairs:
        raise InputError(
            "no dictionary can be induced, since no page has as many lines as its counterpart: give"
            " translate.dictionary, or set extract.only to elements that both have"
        )
    words = ((_words(left), _words(right)) for left, right in pairs)
    return learn(words, _MIN_DICE, min_probability, min_count), len(pairs)


def _words(line: str) -> str:
    return " ".join(WORD.findall(line.lower()))
