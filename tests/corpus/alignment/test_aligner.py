"""The dynamic-programming aligner against all alignments of tiny texts."""

from __future__ import annotations

import math
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import norm

from fairseq_xl.corpus.alignment import aligner
from fairseq_xl.corpus.alignment.aligner import align
from fairseq_xl.io.errors import InputError
from fairseq_xl.text.words import words

LINE = st.lists(st.sampled_from(["apple", "bread", "cat", "dogs"]), min_size=1, max_size=4).map(" ".join)
TEXT = st.lists(LINE, max_size=4)


def bead_cost(first, second, translation, bead, ratio):
    """The sum in the module's docstring, word by word."""
    left, right = bead
    prior = dict(zip(aligner.KINDS, aligner.PRIORS, strict=True))[len(left), len(right)]
    cost = -math.log(prior)
    if translation is None or (left and right):
        a = sum(len(first[i]) for i in left)
        b = sum(len(second[j]) for j in right) / ratio
        delta = (b - a) / math.sqrt(6.8 * max(a + b, 1) / 2)
        cost -= math.log(2) + norm.logsf(abs(delta))
    if translation is not None and left and right:
        everything = Counter(word for line in [*first, *translation] for word in words(line))
        mine = Counter(word for i in left for word in words(first[i]))
        for j in right:
            for word in words(translation[j]):
                f, p = mine[word] / mine.total(), everything[word] / everything.total()
                cost -= math.log(aligner.NOISE + (1 - aligner.NOISE) * f / p)
    return cost


def all_alignments(i, j, rows, columns):
    if (i, j) == (rows, columns):
        yield []
    for a, b in aligner.KINDS:
        if i + a <= rows and j + b <= columns:
            for rest in all_alignments(i + a, j + b, rows, columns):
                yield [(list(range(i, i + a)), list(range(j, j + b))), *rest]


@given(TEXT, TEXT, st.booleans(), st.sampled_from([1.0, 1.3]))
def test_no_alignment_costs_less(first, second, translated, ratio):
    translation = [line.replace("dogs", "apple") for line in second] if translated else None

    def cost(beads):
        return sum(bead_cost(first, second, translation, bead, ratio) for bead in beads)

    found = align(first, second, translation, ratio)
    assert [line for left, _ in found for line in left] == list(range(len(first)))
    assert [line for _, right in found for line in right] == list(range(len(second)))
    least = min(map(cost, all_alignments(0, 0, len(first), len(second))))
    assert cost(found) == pytest.approx(least, abs=1e-4)


def test_words_find_a_line_that_lengths_miss():
    first = ["red walls and low roofs stand side by side", "an old tree grew there", "nine boats went"]
    second = ["là se trouvait jadis un vieil arbre tordu", "neuf bateaux partis"]
    translation = ["there grew an old tree", "nine boats went"]
    assert align(first, second, translation) == [([0], []), ([1], [0]), ([2], [1])]
    assert align(first, second) == [([0], [0]), ([1, 2], [1])]


def test_two_sentences_for_one():
    first = ["one two three four five six seven eight nine ten eleven twelve", "short one"]
    second = ["one two three four five six", "seven eight nine ten eleven twelve", "short one"]
    assert align(first, second, second) == [([0], [0, 1]), ([1], [2])]


def test_empty_texts():
    assert align([], []) == []
    assert align(["a b"], [], []) == [([0], [])]


def test_texts_beyond_memory_are_refused(monkeypatch):
    monkeypatch.setattr(aligner, "MAX_CELLS", 3)
    with pytest.raises(InputError, match="too long"):
        align(["a"] * 2, ["b"] * 2)
