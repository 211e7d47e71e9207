"""A bilingual dictionary from the pages themselves: words that meet in lines at equal positions."""

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


def induce(
    documents: Iterable[Document], min_probability: float, min_count: int
) -> tuple[dict[str, tuple[str, float]], int]:
    """Translations of the second language's words, by IBM model 1 on lines at equal positions.

    Pages with unequal numbers of lines are left out, and so are repetitions of a pair of lines, such as menus.

    Args:
        documents: as ``extract`` made them.
        min_probability: leave out translations below.
        min_count: leave out words with fewer occurrences.

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
    first, second = (make_side(map(_words, side)) for side in zip(*pairs, strict=True))
    bitext = Bitext(second, first)
    allowed = candidates(bitext, _MIN_DICE)
    counts = expected_links(bitext, allowed, _ITERATIONS)
    totals = np.asarray(counts.sum(1)).ravel()
    lexicon = make_lexicon(bitext, counts, totals, min_probability, min_count)
    return {word: entries[0] for word, entries in lexicon.items()}, len(pairs)


def _words(line: str) -> str:
    return " ".join(WORD.findall(line.lower()))
