"""Evaluation sets."""

from __future__ import annotations

import random
from contextlib import closing

import pytest

from fairseq_xl.io.errors import InputError
from fairseq_xl.syntactic.data.corpus import Corpus
from fairseq_xl.syntactic.data.groups import corpus_groups, groups_of, sample, treebank_groups, write_groups
from fairseq_xl.syntactic.data.readers import TabSeparated

SENTENCES = [
    *[(f"I see {word}.", "PRON VERB NOUN PUNCT") for word in ["cats", "dogs", "birds", "fish", "mice", "rats"]],
    ("I see CATS!", "PRON VERB NOUN PUNCT"),
    *[(f"Go {word}!", "VERB ADV PUNCT") for word in ["there", "here", "home"]],
]


def test_groups_have_enough_different_sentences():
    assert list(groups_of(SENTENCES, 6)) == ["PRON VERB NOUN PUNCT"]
    assert groups_of(SENTENCES, 7) == {}
    found = groups_of(SENTENCES, 3)
    assert found["VERB ADV PUNCT"] == ["Go here!", "Go home!", "Go there!"]
    assert len(found["PRON VERB NOUN PUNCT"]) == 6
    assert groups_of([*SENTENCES, *[(str(n), "") for n in range(9)]], 3) == found


def test_the_order_of_the_sentences_does_not_matter():
    shuffled = SENTENCES[:]
    random.Random(3).shuffle(shuffled)
    assert groups_of(shuffled, 3) == groups_of(SENTENCES, 3)
    assert list(groups_of(shuffled, 3)) == list(groups_of(SENTENCES, 3))


def test_samples():
    groups = {f"X{number}": [str(number)] for number in range(50)}
    chosen = sample(groups, 7, "1 en")
    assert len(chosen) == 7
    assert chosen == sample(dict(reversed(groups.items())), 7, "1 en") != sample(groups, 7, "2 en")
    assert sample(groups, 99, "1 en") == groups
    with pytest.raises(InputError, match="no group has enough"):
        sample({}, 7, "1 en")


def test_a_corpus_gives_the_same_groups(tmp_path):
    path = tmp_path / "x.tsv"
    path.write_text("".join(f"{text}\t{number}\n" for number, (text, _) in enumerate(SENTENCES)), encoding="utf-8")
    with closing(Corpus(tmp_path / "corpus.sqlite")) as corpus:
        corpus.read(TabSeparated(("en", "xx"), (path,)), 0, ())
        tags = dict(SENTENCES)
        corpus.give_tags([(tags[text], number) for number, text in corpus.sentences_without_tags("en")])
        for least in (3, 6):
            assert corpus_groups(corpus, "en", least) == groups_of(SENTENCES, least)
        assert corpus_groups(corpus, "xx", 3) == {}


def test_treebanks(multilingual):
    groups = treebank_groups([multilingual.treebank("es")], 6)
    assert {tags: len(texts) for tags, texts in groups.items()} == {
        "VERB NUM CCONJ NUM NOUN PUNCT": 200,
        "ADV VERB NUM ADP DET NUM NOUN PUNCT": 100,
    }


def test_writing(tmp_path):
    write_groups(tmp_path / "eval" / "en.tsv", {"A B": ["x y", "z"], "C": ["w"]})
    assert (tmp_path / "eval" / "en.tsv").read_text() == "text\tupos\nx y\tA B\nz\tA B\nw\tC\n"
