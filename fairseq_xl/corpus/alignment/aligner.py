"""Which lines of two texts translate each other, by dynamic programming over lengths and words.

An alignment is a sequence of beads, each of 1-1, 1-0, 0-1, 2-1, 1-2 or 2-2 lines, in the order of both texts. The
aligner finds the alignment with the least cost. The cost of a bead is

    - log P(bead)                            how frequent its kind is (Gale & Church 1993, table 5)
    - log P(|δ| or more)                     how well the lengths fit (their section 3.2)
    - Σ_w n(w) log(α + (1 - α) f(w) / p(w))  how well the words fit, where there is a translation

In the second term δ = (l₂/c - l₁) / √(6.8 (l₁ + l₂/c)/2) is normal. The l are lengths in characters, and c is the
number of characters of the second language for each of the first. The third term follows Moore (2002, "Fast and
Accurate Sentence Alignment of Bilingual Corpora"), with a translation in place of his word probabilities. There n(w)
counts the translated words of the second text's lines. With probability 1 - α a word comes from the bead's first side,
where its share is f(w). Otherwise it comes from the text in general, where its share is p(w). The term compares this
with words that all come from the text in general. Words in lines without a counterpart do, so such lines have no third
term. If there is a translation, they have no second term either. Gale and Church compare such a line with an empty one,
which nearly always forbids it.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from scipy import sparse
from scipy.special import log_ndtr

from fairseq_xl.corpus.documents.document import Bead
from fairseq_xl.io.errors import InputError
from fairseq_xl.text.words import words

KINDS = ((1, 1), (1, 0), (0, 1), (2, 1), (1, 2), (2, 2))
PRIORS = (0.89, 0.0099, 0.0099, 0.089, 0.089, 0.011)
VARIANCE = 6.8
NOISE = 0.5
"""α: the share of a translation's words that its original cannot explain."""
MAX_CELLS = 2**25
"""The largest product of both texts' numbers of lines. It takes half a gigabyte of memory."""


def too_long(first: int, second: int) -> bool:
    """Whether texts of so many lines are more than :func:`align` takes."""
    return first * second > MAX_CELLS


def length_cost(first: np.ndarray, second: np.ndarray, ratio: float) -> np.ndarray:
    """-log of the probability that lengths in characters differ as much or more, elementwise.

    Args:
        first, second: of the same shape.
        ratio: c, the second language's characters for each of the first's.
    """
    second = second / ratio
    delta = (second - first) / np.sqrt(VARIANCE * np.maximum(first + second, 1) / 2)
    return -(math.log(2) + log_ndtr(-np.abs(delta)))


def align(
    first: Sequence[str], second: Sequence[str], translation: Sequence[str] | None = None, ratio: float = 1.0
) -> list[Bead]:
    """The beads with the least cost, in order. Every line is in one.

    Args:
        first, second: I and J lines.
        translation: of the second's lines into the first's language. Without it only lengths are compared.
        ratio: see :func:`length_cost`.

    Raises:
        InputError: the texts are too long.
    """
    sizes = len(first), len(second)
    if too_long(*sizes):
        raise InputError(f"texts of {sizes[0]} and {sizes[1]} lines are too long to be aligned: split them")
    ends = [np.cumsum([0, *map(len, side)]) for side in (first, second)]
    lexical = None if translation is None else _word_costs(first, translation)
    kind = np.full((sizes[0] + 1, sizes[1] + 1), -1, np.int8)
    # Beads add 1 to 4 lines, so a diagonal of cells with the same number of lines depends on the last four. Each is
    # held at full height: cost[i] is that of i lines of the first text and the others of the second.
    infinite = np.full(sizes[0] + 1, np.inf)
    start = infinite.copy()
    start[0] = 0
    behind = [start, infinite, infinite, infinite]
    for total in range(1, sum(sizes) + 1):
        i = np.arange(max(0, total - sizes[1]), min(total, sizes[0]) + 1)
        j = total - i
        options = np.full((len(KINDS), len(i)), np.inf)
        for number, (rows, columns) in enumerate(KINDS):
            ok = (i >= rows) & (j >= columns)
            a, b = i[ok], j[ok]
            cost = behind[rows + columns - 1][a - rows] - math.log(PRIORS[number])
            if lexical is None or (rows and columns):
                lengths = ends[0][a] - ends[0][a - rows], ends[1][b] - ends[1][b - columns]
                cost = cost + length_cost(*lengths, ratio)
            if lexical is not None and rows and columns:
                cost = cost + lexical[rows, columns][a - rows, b - columns]
            options[number, ok] = cost
        best = options.argmin(0)
        kind[i, j] = best
        now = infinite.copy()
        now[i] = options[best, np.arange(len(i))]
        behind = [now, *behind[:3]]
    return _trace(kind)


def _trace(kind: np.ndarray) -> list[Bead]:
    """From the end back to the beginning."""
    i, j = kind.shape[0] - 1, kind.shape[1] - 1
    beads: list[Bead] = []
    while i or j:
        rows, columns = KINDS[kind[i, j]]
        beads.append((list(range(i - rows, i)), list(range(j - columns, j))))
        i, j = i - rows, j - columns
    return beads[::-1]


def _word_costs(first: Sequence[str], translation: Sequence[str]) -> dict[tuple[int, int], np.ndarray]:
    """The third term for each kind of bead with two sides: (I - rows + 1, J - columns + 1) float32 by first lines."""
    known: dict[str, int] = {}
    left, right = (_counts(side, known) for side in (first, translation))
    left.resize(len(first), len(known))  # the translation has further words
    share = np.asarray(left.sum(0) + right.sum(0)).ravel()
    share = share / max(share.sum(), 1)
    found = {}
    for rows, columns in KINDS:
        if not (rows and columns):
            continue
        spans, others = _spans(left, rows), _spans(right, columns)
        lengths = np.asarray(spans.sum(1)).ravel()
        odds = spans.tocoo()
        odds.data = np.log1p((1 - NOISE) / NOISE * odds.data / lengths[odds.row] / share[odds.col])
        # log(α + (1 - α) f/p) is log α where f is 0, and so much more where it is not.
        explained = (odds.tocsr() @ others.T).toarray()
        all_noise = math.log(NOISE) * np.asarray(others.sum(1)).ravel()
        found[rows, columns] = -(explained + all_noise).astype(np.float32)
    return found


def _counts(lines: Sequence[str], known: dict[str, int]) -> sparse.csr_matrix:
    """(lines, words so far) how often each word stands in each line."""
    rows, columns = [], []
    for number, line in enumerate(lines):
        for word in words(line):
            rows.append(number)
            columns.append(known.setdefault(word, len(known)))
    shape = len(lines), len(known)
    return sparse.csr_matrix((np.ones(len(rows)), (rows, columns)), shape)


def _spans(counts: sparse.csr_matrix, size: int) -> sparse.csr_matrix:
    """The counts of each ``size`` (1 or 2) lines that follow each other."""
    return counts if size == 1 else counts[:-1] + counts[1:]
