"""IBM model 1 against a slow oracle and Brown et al.'s idea of a corpus; links of other aligners."""

from __future__ import annotations

import itertools
import random
from collections import defaultdict

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fairseq_xl.io.errors import InputError
from fairseq_xl.text.lexicons import ibm1 as alignment
from fairseq_xl.text.lexicons.bitext import Bitext, Side, read_bitext


def side(sentences):
    """Of lists of words."""
    words = sorted({word for sentence in sentences for word in sentence})
    tokens = [words.index(word) for sentence in sentences for word in sentence]
    starts = np.cumsum([0, *map(len, sentences)])
    return Side(words, np.array(tokens, np.int32), starts.astype(np.int64))


def oracle(pairs, iterations):
    """c(f, e) of model 1 with NULL (None), as the textbook's loops over sentences and words."""
    targets = {e for _, right in pairs for e in right}
    t = defaultdict(lambda: 1 / len(targets))
    for _ in range(iterations):
        counts, totals = defaultdict(float), defaultdict(float)
        for left, right in pairs:
            for e in right:
                everything = sum(t[f, e] for f in [None, *left])
                for f in [None, *left]:
                    counts[f, e] += t[f, e] / everything
                    totals[f] += t[f, e] / everything
        t = defaultdict(float, {(f, e): c / totals[f] for (f, e), c in counts.items()})
    return {pair: count for pair, count in counts.items() if pair[0] is not None}


sentence = st.lists(st.sampled_from("abcde"), max_size=5)


@given(
    pairs=st.lists(st.tuples(sentence, sentence), min_size=1, max_size=6).filter(
        lambda pairs: any(left for left, _ in pairs) and any(right for _, right in pairs)
    ),
    iterations=st.integers(1, 4),
    block=st.sampled_from([1, 7, 1000]),
)
def test_expected_counts_are_the_textbooks(pairs, iterations, block):
    bitext = Bitext(side([left for left, _ in pairs]), side([right for _, right in pairs]))
    allowed = alignment.candidates(bitext, 0.0, progress=False)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(alignment, "BLOCK", block)
        found = alignment.expected_links(bitext, allowed, iterations, progress=False).tocoo()
    ours = {
        (bitext.source.words[f], bitext.target.words[e]): count
        for f, e, count in zip(found.row, found.col, found.data, strict=True)
    }
    expected = oracle(pairs, iterations)
    assert ours.keys() == expected.keys()
    assert all(ours[pair] == pytest.approx(expected[pair], abs=1e-7) for pair in expected)


def test_the_corpus_is_left_as_it_was():
    bitext = Bitext(side([list("cab"), list("b")]), side([list("zyx"), list("x")]))
    before = bitext.source.tokens.copy()
    alignment.expected_links(bitext, alignment.candidates(bitext, 0.0, False), 1, False)
    assert (bitext.source.tokens == before).all()


def test_pairs_that_seldom_meet_are_dropped():
    left = [["a", "b"]] + [["a"]] * 9
    right = [["x", "y"]] + [["x"]] * 9
    bitext = Bitext(side(left), side(right))
    dice = alignment.candidates(bitext, 0.0, False).toarray()
    assert dice == pytest.approx(np.array([[1, 2 / 11], [2 / 11, 1]]))
    kept = alignment.candidates(bitext, 0.5, False)
    assert kept.nnz == 2
    links = alignment.expected_links(bitext, kept, 3, False).toarray()
    assert links[0, 1] == links[1, 0] == 0
    assert links[0, 0] > 5


def test_links_are_all_pairs_of_positions_in_blocks_of_any_size():
    bitext = Bitext(side([[], ["a"], ["a", "b"], []]), side([["x"], ["y"], ["x", "y", "z"], []]))
    expected = [(0, 1), *itertools.product((1, 2), (2, 3, 4))]
    for size in (1, 3, 100):
        found = []
        for sentences in bitext.blocks(size):
            row, column = bitext.links(sentences)
            found += zip(row.tolist(), column.tolist(), strict=True)
        assert found == expected


def test_links_of_an_aligner_are_counted(tmp_path):
    (tmp_path / "de").write_text("das Haus\nein Haus\n\n")
    (tmp_path / "en").write_text("the house\na house now\n\n")
    (tmp_path / "links").write_text("0-0 1-1\n1-1 1-2\n\n")
    bitext = read_bitext(tmp_path / "de", tmp_path / "en")
    counts, alone = alignment.given_links(bitext, tmp_path / "links")
    house = bitext.source.words.index("Haus")
    by_word = dict(zip(bitext.target.words, counts.toarray()[house], strict=True))
    assert by_word == {"the": 0, "house": 2, "a": 0, "now": 1}
    assert dict(zip(bitext.source.words, alone, strict=True)) == {"das": 0, "Haus": 0, "ein": 1}


@pytest.mark.parametrize(
    ("links", "message"),
    [
        ("0-0\n", "has 1 lines where the text has 2: align the same files"),
        ("0-0\n0-1 x\n", "line 2: 'x' is no link"),
        ("0-0\n0-0.5\n", "line 2: '0-0.5' is no link"),
        ("0-0\n0-2\n", "line 2: 0-2 points beyond a sentence of 2 words"),
    ],
)
def test_links_that_do_not_fit_are_refused(tmp_path, links, message):
    (tmp_path / "de").write_text("das Haus\nHaus\n")
    (tmp_path / "en").write_text("the house\na house\n")
    (tmp_path / "links").write_text(links)
    with pytest.raises(InputError, match=message):
        alignment.given_links(read_bitext(tmp_path / "de", tmp_path / "en"), tmp_path / "links")


def test_a_known_dictionary_is_recovered():
    """Sentences of Zipf-distributed words in another order, one in ten words untranslated."""
    draw = random.Random(3)
    kinds = 300
    weights = [1 / (rank + 1) for rank in range(kinds)]
    left, right = [], []
    for _ in range(3000):
        words = draw.choices(range(kinds), weights, k=draw.randint(4, 12))
        left.append([f"f{word}" for word in words])
        right.append([f"e{word}" for word in words if draw.random() < 0.9] + ["the"])
        draw.shuffle(right[-1])
    bitext = Bitext(side(left), side(right))
    pairs = alignment.candidates(bitext, 0.001, False)
    best = alignment.expected_links(bitext, pairs, 5, False).toarray().argmax(1)
    right_ones = sum(
        bitext.target.words[e] == word.replace("f", "e") for word, e in zip(bitext.source.words, best, strict=True)
    )
    assert right_ones >= 0.98 * len(best)
