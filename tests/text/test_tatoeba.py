"""Sentence pairs cut into parts that share no sentence."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fairseq_xl.io.errors import InputError
from fairseq_xl.text.tatoeba import read_pairs, split


@given(
    st.lists(st.tuples(st.integers(0, 12), st.integers(0, 12)), unique=True, max_size=30),
    st.integers(0, 3),
    st.integers(0, 3),
    st.integers(0, 9),
)
def test_no_sentence_is_in_two_parts(numbers, valid, test, seed):
    pairs = [(f"s{a}", f"t{b}") for a, b in numbers]
    clusters = [f"alone{i}" for i in range(7)]
    pairs += [(name, name.upper()) for name in clusters]
    parts = split(pairs, valid, test, seed)
    assert (len(parts.valid), len(parts.test)) == (valid, test)
    assert len(parts.train) + valid + test + parts.dropped == len(pairs)
    for side in (0, 1):
        sentences = [{pair[side] for pair in part} for part in (parts.train, parts.valid, parts.test)]
        assert len(set.union(*sentences)) == sum(map(len, sentences))
    order = {pair: place for place, pair in enumerate(pairs)}
    for part in (parts.train, parts.valid, parts.test):
        assert [order[pair] for pair in part] == sorted(order[pair] for pair in part)
    assert split(pairs, valid, test, seed) == parts


def test_seeds_choose_differently():
    pairs = [(f"s{i}", f"t{i}") for i in range(50)]
    assert split(pairs, 5, 5, 1).test != split(pairs, 5, 5, 2).test


def test_a_chain_of_translations_is_one_cluster():
    pairs = [("a", "A"), ("b", "A"), ("b", "B"), ("c", "C"), ("d", "D")]
    for seed in range(20):
        parts = split(pairs, 1, 1, seed)
        together = [pair for pair in parts.train if pair[0] in "ab"]
        assert len(together) in (0, 3)
        assert parts.dropped == (0 if together else 2)


def test_too_few():
    with pytest.raises(InputError, match="3 pairs make 2 clusters"):
        split([("a", "A"), ("b", "A"), ("c", "C")], 1, 1, 1)


def test_reading(tmp_path):
    path = tmp_path / "deu-eng.tsv"
    path.write_text("Go.\tGeh.\tCC-BY\nGo.\tGeh.\tagain\nHi  there.\t Hallo.\n", encoding="utf-8")
    assert read_pairs(path, (2, 1)) == [("Geh.", "Go."), ("Hallo.", "Hi there.")]
    with pytest.raises(InputError, match="line 3: 2 columns, but column 3"):
        read_pairs(path, (3, 1))
    path.write_text("Go.\t \n")
    with pytest.raises(InputError, match="line 1: an empty sentence"):
        read_pairs(path, (2, 1))
    path.write_text("")
    with pytest.raises(InputError, match="is empty"):
        read_pairs(path, (2, 1))
