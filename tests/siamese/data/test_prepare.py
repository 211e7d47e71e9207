"""From labelled files to a prepared folder."""

from __future__ import annotations

import json
from collections import Counter

import numpy as np
import pytest

from fairseq_xl.cli.main import main
from fairseq_xl.io.errors import InputError
from fairseq_xl.io.labelled import Source
from fairseq_xl.siamese.data.folder import Prepared
from fairseq_xl.siamese.data.prepare import Settings, prepare
from fairseq_xl.text.trigrams import ngrams


@pytest.fixture
def make(labelled, tmp_path):
    """``make(poor="text", rich="text", key=value)`` prepares a folder; without text the made-up languages."""

    def run(poor=None, rich=None, languages=("te", "en"), **settings):
        files = []
        for name, given, ready in (("p", poor, "te"), ("r", rich, "en")):
            path = labelled / f"{ready}.tsv"
            if given is not None:
                path = tmp_path / name
                path.write_text(given, encoding="utf-8")
            files.append([Source.parse(str(path))])
        prepare(tmp_path / "out", files[0], files[1] if len(languages) == 2 else [], Settings(languages, **settings))
        return Prepared(tmp_path / "out")

    return run


def rows(prepared, part, side="poor"):
    corpus = prepared.corpus(part, side)
    return [(prepared.classes[label], text) for label, text in zip(corpus.labels, corpus.texts, strict=True)]


def test_parts_share_no_sentence_and_all_are_there(make, labelled):
    prepared = make()
    parts = [rows(prepared, part) for part in ("train", "valid", "test")]
    given = [tuple(line.split("\t")) for line in (labelled / "te.tsv").read_text(encoding="utf-8").splitlines()]
    assert sorted(row for part in parts for row in part) == sorted(given)
    assert [len(part) for part in parts] == [64, 8, 8]
    assert all(Counter(label for label, _ in part)["pos"] * 2 == len(part) for part in parts)
    assert not prepared.has("test", "rich")


def test_units_give_the_text_back(make):
    prepared = make(orders=(3, 1))
    corpus, dictionary = prepared.corpus("train", "poor"), prepared.dictionary
    for text, units in zip(corpus.texts, corpus.units, strict=True):
        singles = [dictionary[int(unit)] for unit in units][1::2]
        assert "".join(singles).strip("▁").replace("▁", " ").startswith(text[:10])
        np.testing.assert_array_equal(prepared.encode(f"  {text} "), units)
        assert dictionary.unk() not in units


def test_the_dictionary_is_of_the_training_text_alone(make):
    prepared = make("".join(f"{c}\tsame{c}{i:03}\n" for i in range(40) for c in "ab"), languages=("te",))
    train = {unit for text in prepared.corpus("train", "poor").texts for unit in ngrams(text)}
    assert set(prepared.dictionary.symbols[prepared.dictionary.nspecial :]) == train
    assert prepared.encode("ζζζ").tolist() == [prepared.dictionary.unk()] * 3


def test_rare_units_are_unknown(make):
    text = "".join(f"{c}\t{'ab'[i % 2]}{i}\n" for i, c in enumerate("pn" * 20))
    prepared = make(text, text, minimum=3)
    corpus = prepared.corpus("train", "poor")
    assert any(int(unit) == prepared.dictionary.unk() for units in corpus.units for unit in units)


def test_the_same_text_on_two_parts_stays_in_the_later_one(tmp_path):
    train, test = tmp_path / "a", tmp_path / "b"
    train.write_text("p\tone\nn\ttwo\np\tthree\nn\tfour\n")
    test.write_text("p\tone\nn\ttwo\n")
    sources = [Source.parse(str(train)), Source.parse(f"{test},part=test")]
    manifest = prepare(tmp_path / "out", sources, [], Settings(("xx",), valid_share=0))
    assert manifest["sentences"]["poor"] == {"test": 2, "train": 2}
    assert manifest["left_out"]["poor"]["duplicate"] == 2


def test_no_test_sentence_lends_its_label_as_a_rich_one(make, labelled):
    both = (labelled / "en.tsv").read_text(encoding="utf-8")
    prepared = make(both, both, languages=("en", "en"))
    held = {text for part in ("valid", "test") for _, text in rows(prepared, part)}
    lent = {text for _, text in rows(prepared, "train", "rich")}
    assert lent == {text for _, text in rows(prepared, "train")}
    assert not lent & held
    assert prepared.manifest["left_out"]["rich"]["in the poor language's valid or test"] == len(held) == 40


def test_a_learning_curve_keeps_its_test_set(make):
    large = make()
    test, train = rows(large, "test"), rows(large, "train")
    small = make(poor_size=20)
    assert rows(small, "test") == test
    assert len(rows(small, "train")) == 20
    assert set(rows(small, "train")) < set(train)


def test_shuffled_labels_are_the_same_number_of_each(make):
    plain, shuffled = rows(make(), "train", "rich"), rows(make(shuffle_rich=True), "train", "rich")
    assert [text for _, text in plain] == [text for _, text in shuffled]
    assert sorted(label for label, _ in plain) == sorted(label for label, _ in shuffled)
    agree = sum(a == b for a, b in zip(plain, shuffled, strict=True))
    assert 70 < agree < 130  # of 200
    manifest = json.loads((make(shuffle_rich=True).folder / "manifest.json").read_text())
    assert manifest["rich_labels_shuffled"]


def test_most_frequent_and_shared_classes(make):
    poor = "".join(f"{c}\t{c}{i}\n" for c, n in (("a", 30), ("b", 20), ("c", 10)) for i in range(n))
    rich = "".join(f"{c}\t{c}{i}\n" for c in "abd" for i in range(9))
    assert make(poor, rich, most_frequent=2).classes == ["a", "b"]
    assert make(poor, rich, shared=True, others="drop").classes == ["a", "b"]


def test_classes_of_another_text(tmp_path):
    for name, counts in (("es", {"a": 9, "b": 8, "c": 7, "d": 6}), ("en", {"d": 40, "c": 30, "a": 20})):
        lines = [f"{label}\t{name}{label}{i}\n" for label, count in counts.items() for i in range(count)]
        (tmp_path / name).write_text("".join(lines))
    poor, other = (Source.parse(str(tmp_path / name)) for name in ("en", "es"))
    settings = Settings(("en",), most_frequent=2, shared=True)
    assert prepare(tmp_path / "own", [poor], [], settings)["classes"] == ["d", "c"]
    assert prepare(tmp_path / "others", [poor], [], settings, [other])["classes"] == ["a", "c"]
    held = Source.parse(f"{other.path},part=test")
    assert prepare(tmp_path / "others", [poor], [], settings, [held])["classes"] == ["a", "c"]


def test_preparing_again_leaves_nothing_of_the_last_time(make):
    make()
    prepared = make(languages=("te",))
    assert not list(prepared.folder.glob("*.rich.*"))
    with pytest.raises(InputError, match="has no train text of the rich language"):
        prepared.corpus("train", "rich")


@pytest.mark.parametrize(
    ("poor", "settings", "said"),
    [
        ("a\tx\na\ty\n", {}, "needs two classes at least, but there is a"),
        ("pos\tx\nneg\ty\nneu\tz\n", {"classes": ("pos", "neg")}, "line 3: the class 'neu' is none of pos, neg"),
        ("pos\tx\nneg\ty\n", {}, "class pos has 1 texts, too few"),
        (None, {"poor_size": 999}, "999 texts are asked for, but there are 64"),
        (None, {"most_frequent": 3}, "there are 2 classes to choose from: take these (without --most-frequent)"),
        (None, {"most_frequent": 3, "shared": True}, "2 classes to choose from, which both languages have: take"),
        (None, {"poor_size": 1}, "--poor-size 1 is too small for every class"),
        (None, {"rich_size": 1}, "--rich-size 1 is too small for every class"),
        (None, {"minimum": 100_000}, "--minimum 100000: no n-gram stands so often"),
        ("".join(f"{c}\t{c}{i}\n" for c in ("neg", "pos", "x") for i in range(9)), {}, "no sentence of x"),
    ],
)
def test_mistakes(make, poor, settings, said):
    with pytest.raises(InputError) as error:
        make(poor, **settings)
    assert said in str(error.value)


def test_what_cannot_be_written_and_languages_without_a_name(labelled, tmp_path):
    poor, rich = ([Source.parse(f"{labelled}/{language}.tsv")] for language in ("te", "en"))
    (tmp_path / "file").touch()
    with pytest.raises(InputError, match="file is a file; name a folder"):
        prepare(tmp_path / "file", poor, rich, Settings(("te", "en")))
    with pytest.raises(InputError, match="--languages te: name the poor language and the rich one"):
        prepare(tmp_path / "out", poor, rich, Settings(("te",)))
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    "options",
    [
        ("--seed", "-1"),
        ("--valid-share", "nan"),
        ("--minimum", "0"),
        ("--poor-size", "-5"),
        ("--rich-size", "-5"),
        ("--most-frequent", "-1"),
        ("--languages", "a", "b", "c"),
    ],
)
def test_numbers_that_make_no_sense(tmp_path, capsys, options):
    assert main(["classify", "prepare", str(tmp_path / "out"), "--poor", "nowhere", *options]) == 2
    assert options[0] in (said := capsys.readouterr().err)
    assert "nowhere" not in said


def test_no_folder(tmp_path):
    with pytest.raises(InputError, match="prepare` makes such a folder"):
        Prepared(tmp_path)
    (tmp_path / "manifest.json").write_text('{"version": 0}')
    with pytest.raises(InputError, match="has version 0"):
        Prepared(tmp_path)
