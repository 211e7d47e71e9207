"""Evaluation sets."""

from __future__ import annotations

import random
from contextlib import closing

import pytest

from fairseq_xl.cli.main import main
from fairseq_xl.io.errors import InputError
from fairseq_xl.syntactic.data.corpus import Corpus
from fairseq_xl.syntactic.data.groups import (
    corpus_groups,
    groups_of,
    long_enough,
    part,
    read_groups,
    sample,
    treebank_groups,
    write_groups,
)
from fairseq_xl.syntactic.data.readers import TabSeparated

from ..conftest import TAGS

FILES = ("en.tsv", "dev/en.tsv")
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


def test_groups_of_few_tags_are_left_out():
    groups = groups_of(SENTENCES, 3)
    assert [*long_enough(groups, 4)] == ["PRON VERB NOUN PUNCT"]
    assert [*long_enough(groups, 5)] == []
    assert long_enough(groups, 3) == groups


def test_groups_to_choose_by_are_not_those_to_report():
    groups = {f"X{number}": [str(number)] for number in range(10)}
    dev, test = part(groups, 0.3, "1 en")
    assert (len(dev), len(test)) == (3, 7)
    assert {**dev, **test} == groups
    assert part(dict(reversed(groups.items())), 0.3, "1 en") == (dev, test) != part(groups, 0.3, "2 en")
    with pytest.raises(InputError, match=r"share of 0\.01 of 10 groups"):
        part(groups, 0.01, "1 en")


def test_the_command_writes_both_parts(multilingual, tmp_path, capsys):
    words = ["embed", "build-eval", str(multilingual.treebank("en")), "-l", "en", "--all", "en", "-o", str(tmp_path)]
    assert main([*words, "--dev", "0.5", "--min-tags", "7"]) == 0
    parts = [{row.split("\t")[1] for row in (tmp_path / name).read_text().splitlines()[1:]} for name in FILES]
    assert [len(part) for part in parts] == [1, 1]
    assert set.union(*parts) == set(TAGS["en"])
    assert main([*words, "--dev", "0.5", "--min-tags", "8"]) == 2
    assert "leaves one side empty" in capsys.readouterr().err
    assert main([*words, "--min-tags", "8"]) == 0
    assert not (tmp_path / FILES[1]).exists()  # its groups are in the other file now
    assert {row.split("\t")[1] for row in (tmp_path / "en.tsv").read_text().splitlines()[1:]} == {TAGS["en"][2]}


def test_tables_of_the_user_s_own_are_not_replaced(multilingual, tmp_path, capsys):
    def build(language, *options):
        words = ["embed", "build-eval", str(multilingual.treebank(language)), "-l", language, "--all", language]
        return main([*words, "-o", str(tmp_path), "--min-tags", "7", *options])

    (tmp_path / "dev").mkdir()
    for name in FILES:
        (tmp_path / name).write_text("mine")
    assert build("en") == 2
    assert "en.tsv is not as embed build-eval wrote it: move it elsewhere first" in capsys.readouterr().err
    assert {(tmp_path / name).read_text() for name in FILES} == {"mine"}
    (tmp_path / "en.tsv").unlink()
    assert build("en") == 0
    assert (tmp_path / "dev" / "en.tsv").read_text() == "mine"
    first = (tmp_path / "en.tsv").read_text()
    assert build("de") == 0, "another language has a call of its own"
    assert build("en", "--seed", "2") == 0
    assert (tmp_path / "en.tsv").read_text() == first
    assert (tmp_path / "de.tsv").is_file()


def test_a_corpus_without_tags_is_refused(tmp_path):
    (tmp_path / "x.tsv").write_text("ein Satz\ta sentence\n")
    with closing(Corpus(tmp_path / "corpus.sqlite")) as corpus:
        corpus.read(TabSeparated(("de", "en"), (tmp_path / "x.tsv",)), 0, ())
    with pytest.raises(InputError, match="has no tagged sentences: tag them with prepare"):
        read_groups([tmp_path / "corpus.sqlite"], [], 2)


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
