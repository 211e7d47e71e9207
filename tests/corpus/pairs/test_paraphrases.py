"""Paraphrases through a pivot: which there are, against a double loop, and what is true of every table of them."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fairseq_xl.corpus.pairs import paraphrases as module
from fairseq_xl.corpus.pairs.paraphrases import paraphrases, read_sentence_pairs, through_pivots
from fairseq_xl.corpus.pairs.settings import ParaphraseSettings
from fairseq_xl.io.errors import InputError
from fairseq_xl.text.words import key

FRENCH = [
    ("I'm cold.", "J'ai froid."),
    ("I am cold.", "j'ai froid"),
    ("I am cold!", "J'ai froid."),  # the same words as the second
    ("Stay here.", "Reste ici."),
    ("Yes.", "Oui."),
    ("Sure.", "Oui."),
    ("Of course.", "Oui."),
]
SPANISH = [
    ("I am freezing.", "Tengo frío."),
    ("I am cold.", "Tengo frío."),
    ("I'm cold.", "Tengo frío."),
    ("Reste ici.", "Quédate."),
]


def pairs_of(positives):
    return list(zip(positives.first, positives.second, strict=True))


def test_two_sentences_with_one_translation_are_a_pair_once():
    found = through_pivots([FRENCH, SPANISH], most=2)
    assert pairs_of(found) == [("I'm cold.", "I am cold.")]
    assert len(set(found.home)) == 1


def test_vague_translations_are_left_out():
    assert len(through_pivots([FRENCH], most=3)) == 4
    found = through_pivots([FRENCH, SPANISH], most=3)
    assert len(found) == 1 + 3 + 2
    cold = [home for home, (first, _) in zip(found.home, pairs_of(found), strict=True) if "Yes" not in first]
    assert len(set(found.home)) == 2
    assert cold.count(cold[0]) == 3


texts = st.lists(
    st.lists(st.tuples(st.sampled_from("ABCDEF"), st.sampled_from(["u", "v", "W", "w"])), max_size=12), max_size=3
)


@given(texts, st.integers(2, 5))
def test_against_a_double_loop(texts, most):
    expected = set()
    for pairs in texts:
        for pivot in {key(translation) for _, translation in pairs}:
            beside = {key(sentence) for sentence, translation in pairs if key(translation) == pivot}
            if len(beside) <= most:
                expected |= {frozenset(two) for two in combinations(beside, 2)}
    found = through_pivots(texts, most)
    assert sorted(map(sorted, expected)) == sorted(sorted(map(key, pair)) for pair in pairs_of(found))
    for (one, home), (other, place) in combinations(zip(pairs_of(found), found.home, strict=True), 2):
        assert home == place or not set(one) & set(other)


def made(seed, count=120):
    """Translations of two or three sentences each, all of them different. Some pairs of sentences have two pivots."""
    random = np.random.default_rng(seed)
    said = lambda: " ".join(random.choice(list("abcdefghijklmnopqrstuvwxyz"), 4))  # noqa: E731
    rows = [(said(), f"pivot {number}") for number in range(count) for _ in range(random.integers(2, 4))]
    return through_pivots([rows, rows[:40]], 10)


@pytest.fixture(autouse=True)
def vectors(monkeypatch):
    """What an encoder gives, without one."""
    monkeypatch.setattr(module, "unit_vectors", lambda encoder, sentences: _unit(len(sentences)))


def _unit(count):
    found = np.random.default_rng(1).normal(size=(count, 5)).astype(np.float32)
    return found / np.linalg.norm(found, axis=1, keepdims=True)


@settings(max_examples=10, deadline=None)
@given(st.integers(0, 10**6), st.sampled_from([1.0, 0.2]))
def test_what_is_true_of_every_table(seed, overlap):
    positives = made(seed)
    chosen = ParaphraseSettings(low=-0.9, overlap=overlap, folds=3, length=0.0)
    rows = paraphrases(positives, "any", chosen)
    assert paraphrases(positives, "any", chosen) == rows
    right = set(map(frozenset, pairs_of(positives)))
    home = {text: place for pair, place in zip(pairs_of(positives), positives.home, strict=True) for text in pair}
    shares = {1: [], 0: []}
    for row in rows:
        pair = frozenset((row.sentence1, row.sentence2))
        assert (pair in right) == row.label
        assert row.label or home[row.sentence1] != home[row.sentence2]
        one, other = set(row.sentence1.split()), set(row.sentence2.split())
        shares[row.label].append((row.sentence1, len(one & other) / len(one | other)))
    assert len(shares[0]) == len(shares[1]) > 0
    assert len({frozenset((row.sentence1, row.sentence2)) for row in rows}) == len(rows)
    if overlap < 1:
        own = {}
        for first, share in shares[1]:
            own.setdefault(first, []).append(share)
        for first, share in shares[0]:
            assert any(abs(share - one) <= overlap + 1e-6 for one in own[first])
    folds = {}
    for row in rows:
        for text in (row.sentence1, row.sentence2):
            assert folds.setdefault(home[text], row.fold) == row.fold
    assert set(folds.values()) == {0, 1, 2, None}


@pytest.mark.parametrize("seed", range(5))
def test_no_negative_says_the_same_in_another_order(seed):
    random, words = np.random.default_rng(seed), ["this", "book", "is", "good", "and", "cheap"]
    rows = [(" ".join(random.permutation(words)), f"pivot {number // 2}") for number in range(60)]
    chosen = ParaphraseSettings(low=-1.0, high=1.0, overlap=1.0, folds=2, length=0.0, test=0.0)
    with pytest.raises(InputError, match="have a negative"):
        paraphrases(through_pivots([rows], 10), "any", chosen)


def test_what_is_wrong_is_said(tmp_path):
    with pytest.raises(InputError, match="no two sentences have a translation in common"):
        paraphrases(through_pivots([], 10), "any", ParaphraseSettings())
    with pytest.raises(InputError, match="give --low below --high"):
        paraphrases(made(1), "any", ParaphraseSettings(low=0.9, high=0.9))
    with pytest.raises(InputError, match=r"0 of \d+ paraphrases have a negative, in fewer than two"):
        paraphrases(made(1), "any", ParaphraseSettings(low=0.9, high=0.90001, overlap=0.0, folds=3))
    with pytest.raises(InputError, match="too few for 10 folds"):
        paraphrases(through_pivots([FRENCH], 10), "any", ParaphraseSettings())
    path = tmp_path / "pairs.tsv"
    path.write_text("one\tun\n\t\ntwo\n")
    with pytest.raises(InputError, match=r"line 3: 1 columns, but column 2 is wanted"):
        read_sentence_pairs(path, (1, 2))


def test_rows_that_lack_a_side_are_no_translations(tmp_path):
    path = tmp_path / "pairs.tsv"
    path.write_text("1\tun\t one  more \n2\t\ttwo\n3\ttrois\t\n")
    assert read_sentence_pairs(path, (3, 2)) == [("one more", "un")]
