"""Sentence pairs cut into parts that share no sentence."""

import gzip

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fairseq_xl.io.errors import InputError
from fairseq_xl.text.splits.parallel import Corpus, cut, split, unique


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


def test_a_cluster_that_holds_much_of_the_text_stays_in_training():
    pairs = [("yes", f"t{i}") for i in range(400)] + [(f"s{i}", f"u{i}") for i in range(3)]
    for seed in range(5):
        parts = split(pairs, 1, 1, seed)
        assert (len(parts.train), parts.dropped) == (401, 0)
    few = [(name, f"{name}{number}") for name in "abcd" for number in range(150)] + [("one", "eins"), ("two", "zwei")]
    with pytest.raises(InputError, match=r"2 are small, too few to hold out 2 \+ 2: lower .* a recipe's --held-out"):
        split(few, 2, 2, 1)


def test_reading_columns(tmp_path):
    path = tmp_path / "deu-eng.tsv"
    path.write_text("Go.\tGeh.\tCC-BY\nGo.\tGeh.\tagain\nHi  there.\t Hallo.\nNo.\t \n", encoding="utf-8")
    read = Corpus(path, ("de", "en"), (2, 1)).read()
    assert read == [("Geh.", "Go."), ("Geh.", "Go."), ("Hallo.", "Hi there."), ("", "No.")]
    assert unique(read) == [("Geh.", "Go."), ("Hallo.", "Hi there.")]
    assert unique(read, {("Geh.", "Go.")}) == [("Hallo.", "Hi there.")]
    with pytest.raises(InputError, match="line 3: 2 columns, but column 3"):
        Corpus(path, ("de", "en"), (3, 1)).read()
    for nothing in ("", "Go.\t \n"):
        path.write_text(nothing)
        with pytest.raises(InputError, match=r"deu-eng\.tsv is empty: give sentence pairs"):
            Corpus(path, ("de", "en"), (2, 1)).read()


def test_reading_two_files(tmp_path):
    prefix = tmp_path / "corpus"
    (tmp_path / "corpus.de").write_text("Geh.\nHallo.\n")
    with pytest.raises(InputError, match=r"there is no \S+corpus.en \(or .gz\), and \S+corpus is no file of pairs"):
        Corpus(prefix, ("de", "en")).read()
    with gzip.open(tmp_path / "corpus.en.gz", "wt") as stream:
        stream.write("Go.\nHi.\n")
    assert Corpus(prefix, ("de", "en")).read() == [("Geh.", "Go."), ("Hallo.", "Hi.")]
    (tmp_path / "corpus.de").write_text("Geh.\n")
    with pytest.raises(InputError, match=r"corpus.de has 1 lines and \S+corpus.en.gz has 2"):
        Corpus(prefix, ("de", "en")).read()


def corpora(folder, **texts):
    found = {}
    for name, pairs in texts.items():
        (folder / name).write_text("".join(f"{source}\t{target}\n" for source, target in pairs))
        found[name] = Corpus(folder / name, ("de", "en"))
    return found


def test_given_sets_stay_as_they_are_and_out_of_training(tmp_path):
    pairs = [(f"s{i}", f"t{i}") for i in range(20)]
    given = [pairs[3], pairs[3], ("x", "y")]
    parts = cut(corpora(tmp_path, train=[*pairs, pairs[0]], valid=given), valid=5, test=4, seed=1)
    assert parts.valid == given
    assert len(parts.test) == 4
    assert len(parts.train) == 15
    assert not {*given, *parts.test} & set(parts.train)
    assert parts.dropped == 1


def test_too_few_to_learn_from(tmp_path):
    found = corpora(tmp_path, train=[(f"s{i}", f"t{i}") for i in range(10)])
    with pytest.raises(InputError, match="train has 10 different pairs, too few to learn from: give 500 or more"):
        cut(found, 2, 2, 1, least=500)
    with pytest.raises(InputError, match="train leaves 6 training pairs when other sets are taken out"):
        cut(found, 2, 2, 1, least=8)
    pairs = [("s", "t"), ("u", "v")]
    with pytest.raises(
        InputError, match=r"0 pairs make 0 clusters .* too few to hold out 0 \+ 2: lower .* a recipe's --held-out"
    ):
        cut(corpora(tmp_path, train=pairs, valid=pairs), 2, 2, 1)
    with pytest.raises(InputError, match="train leaves 0 training pairs"):
        cut(corpora(tmp_path, train=pairs, valid=pairs, test=pairs), 2, 2, 1)


def test_the_wrong_way_round(tmp_path):
    pairs = [(f"This is the dog number {i}.", f"Das ist der Hund Nummer {i}.") for i in range(30)]
    with pytest.raises(InputError, match="what should be de looks like en, and the other way round: exchange"):
        cut(corpora(tmp_path, train=pairs), 2, 2, 1)
    assert len(cut(corpora(tmp_path, train=pairs), 2, 2, 1, trust_languages=True).test) == 2
    assert len(cut(corpora(tmp_path, train=[pair[::-1] for pair in pairs]), 2, 2, 1).test) == 2
