"""From labelled files to a data directory."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import replace

import numpy as np
import pytest

from fairseq_xl.io.errors import InputError
from fairseq_xl.siamese.data.directory import DataDirectory
from fairseq_xl.siamese.data.prepare import prepare
from fairseq_xl.siamese.data.settings import Settings
from fairseq_xl.text.ngrams import ngrams


@pytest.fixture
def make(labelled, tmp_path):
    """``make(low="text", high="text", key=value)`` prepares data; without text the made-up languages."""

    def run(low=None, high=None, languages=("te", "en"), **settings):
        files = []
        for name, given, ready in (("l", low, "te"), ("h", high, "en")):
            path = labelled / f"{ready}.tsv"
            if given is not None:
                path = tmp_path / name
                path.write_text(given, encoding="utf-8")
            files.append([str(path)])
        high_resource = files[1] if len(languages) == 2 else []
        made = Settings(low_resource=files[0], high_resource=high_resource, languages=list(languages), **settings)
        prepare(tmp_path / "out", made)
        return DataDirectory(tmp_path / "out")

    return run


def rows(directory, split, side="low"):
    corpus = directory.corpus(split, side)
    return [(directory.classes[label], text) for label, text in zip(corpus.labels, corpus.texts, strict=True)]


def test_splits_share_no_sentence_and_all_are_there(make, labelled):
    directory = make()
    splits = [rows(directory, split) for split in ("train", "valid", "test")]
    given = [tuple(line.split("\t")) for line in (labelled / "te.tsv").read_text(encoding="utf-8").splitlines()]
    assert sorted(row for split in splits for row in split) == sorted(given)
    assert [len(split) for split in splits] == [64, 8, 8]
    assert all(Counter(label for label, _ in split)["pos"] * 2 == len(split) for split in splits)
    assert not directory.has("test", "high")


def test_units_give_the_text_back(make):
    directory = make(ngrams=[3, 1])
    corpus, dictionary = directory.corpus("train", "low"), directory.dictionary
    for text, units in zip(corpus.texts, corpus.units, strict=True):
        singles = [dictionary[int(unit)] for unit in units][1::2]
        assert "".join(singles).strip("▁").replace("▁", " ").startswith(text[:10])
        np.testing.assert_array_equal(directory.encode(f"  {text} "), units)
        assert dictionary.unk() not in units


def test_the_dictionary_is_of_the_training_text_alone(make):
    directory = make("".join(f"{c}\tsame{c}{i:03}\n" for i in range(40) for c in "ab"), languages=("te",))
    train = {unit for text in directory.corpus("train", "low").texts for unit in ngrams(text)}
    assert set(directory.dictionary.symbols[directory.dictionary.nspecial :]) == train
    assert directory.encode("ζζζ").tolist() == [directory.dictionary.unk()] * 3


def test_rare_units_are_unknown(make):
    text = "".join(f"{c}\t{'ab'[i % 2]}{i}\n" for i, c in enumerate("pn" * 20))
    directory = make(text, text, min_count=3)
    corpus = directory.corpus("train", "low")
    assert any(int(unit) == directory.dictionary.unk() for units in corpus.units for unit in units)


def test_the_same_text_in_two_splits_stays_in_the_later_one(tmp_path):
    train, test = tmp_path / "a", tmp_path / "b"
    train.write_text("p\tone\nn\ttwo\np\tthree\nn\tfour\n")
    test.write_text("p\tone\nn\ttwo\n")
    manifest = prepare(tmp_path / "out", Settings(low_resource=[str(train), f"{test},split=test"], valid_share=0))
    assert manifest["sentences"]["low"] == {"test": 2, "train": 2}
    assert manifest["left_out"]["low"]["duplicate"] == 2


def test_no_test_sentence_lends_its_label_as_a_high_resource_one(make, labelled):
    both = (labelled / "en.tsv").read_text(encoding="utf-8")
    directory = make(both, both, languages=("en", "en"))
    held = {text for split in ("valid", "test") for _, text in rows(directory, split)}
    high = {text for _, text in rows(directory, "train", "high")}
    assert high == {text for _, text in rows(directory, "train")}
    assert not high & held
    assert directory.manifest["left_out"]["high"]["in the low-resource language's valid or test"] == len(held) == 40


def test_a_learning_curve_keeps_its_test_set(make):
    large = make()
    test, train = rows(large, "test"), rows(large, "train")
    small = make(low_resource_size=20)
    assert rows(small, "test") == test
    assert len(rows(small, "train")) == 20
    assert set(rows(small, "train")) < set(train)


def test_shuffled_labels_are_the_same_number_of_each(make):
    plain, shuffled = rows(make(), "train", "high"), rows(make(shuffle_high_resource=True), "train", "high")
    assert [text for _, text in plain] == [text for _, text in shuffled]
    assert sorted(label for label, _ in plain) == sorted(label for label, _ in shuffled)
    agree = sum(a == b for a, b in zip(plain, shuffled, strict=True))
    assert 70 < agree < 130  # of 200
    manifest = json.loads((make(shuffle_high_resource=True).path / "manifest.json").read_text())
    assert manifest["high_resource_labels_shuffled"]


def test_most_frequent_and_shared_classes(make):
    low = "".join(f"{c}\t{c}{i}\n" for c, n in (("a", 30), ("b", 20), ("c", 10)) for i in range(n))
    high = "".join(f"{c}\t{c}{i}\n" for c in "abd" for i in range(9))
    assert make(low, high, most_frequent=2).classes == ["a", "b"]
    assert make(low, high, shared=True, others="drop").classes == ["a", "b"]


def test_classes_of_another_text(tmp_path):
    for name, counts in (("es", {"a": 9, "b": 8, "c": 7, "d": 6}), ("en", {"d": 40, "c": 30, "a": 20})):
        lines = [f"{label}\t{name}{label}{i}\n" for label, count in counts.items() for i in range(count)]
        (tmp_path / name).write_text("".join(lines))
    settings = Settings(low_resource=[str(tmp_path / "en")], most_frequent=2, shared=True)
    assert prepare(tmp_path / "own", settings)["classes"] == ["d", "c"]
    other = tmp_path / "es"
    for source in (str(other), f"{other},split=test"):
        assert prepare(tmp_path / "others", replace(settings, class_source=[source]))["classes"] == ["a", "c"]


def test_preparing_again_leaves_nothing_of_the_last_time(make):
    make()
    directory = make(languages=("te",))
    assert not list(directory.path.glob("*.high.*"))
    with pytest.raises(InputError, match="has no train text of the high-resource language"):
        directory.corpus("train", "high")


@pytest.mark.parametrize(
    ("low", "settings", "said"),
    [
        ("a\tx\na\ty\n", {}, "needs two classes at least, but there is a"),
        ("pos\tx\nneg\ty\nneu\tz\n", {"classes": ["pos", "neg"]}, "line 3: the class 'neu' is none of pos, neg"),
        ("pos\tx\nneg\ty\n", {}, "class pos has 1 texts, too few"),
        (
            None,
            {"low_resource_size": 999},
            "--low-resource-size 999 is more than the 64 sentences of the training text",
        ),
        (None, {"high_resource_size": 999}, "--high-resource-size 999 is more than the "),
        (None, {"most_frequent": 3}, "there are 2 classes to choose from: take these (without --most-frequent)"),
        (None, {"most_frequent": 3, "shared": True}, "2 classes to choose from, which both languages have: take"),
        (None, {"low_resource_size": 1}, "--low-resource-size 1 is too small for every class"),
        (None, {"high_resource_size": 1}, "--high-resource-size 1 is too small for every class"),
        (None, {"classes": ["neg", "pos"], "most_frequent": 2}, "--most-frequent chooses classes, and --classes names"),
        (
            None,
            {"classes": ["neg", "pos"], "shared": True},
            "--shared chooses classes, and --classes names them: leave",
        ),
        (None, {"min_count": 100_000}, "--min-count 100000: no n-gram stands so often"),
        ("".join(f"{c}\t{c}{i}\n" for c in ("neg", "pos", "x") for i in range(9)), {}, "no sentence of x"),
    ],
)
def test_mistakes(make, low, settings, said):
    with pytest.raises(InputError) as error:
        make(low, **settings)
    assert said in str(error.value)


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        (
            {"high_resource_size": 9},
            "--high-resource-size is for --high-resource text, and there is none: leave it out",
        ),
        ({"morphemes": ["high"]}, "--morphemes high: there is no --high-resource text to segment"),
    ],
)
def test_options_of_a_high_resource_language_without_one(labelled, tmp_path, settings, said):
    with pytest.raises(InputError, match=said):
        prepare(tmp_path / "out", Settings(low_resource=[f"{labelled}/te.tsv"], **settings))


def test_what_cannot_be_written_and_languages_without_a_name(labelled, tmp_path):
    low, high = ([f"{labelled}/{language}.tsv"] for language in ("te", "en"))
    (tmp_path / "file").touch()
    with pytest.raises(InputError, match="file is a file: name a folder"):
        prepare(tmp_path / "file", Settings(low_resource=low))
    with pytest.raises(InputError, match="--languages te: name the low-resource language and the high-resource one"):
        prepare(tmp_path / "out", Settings(low_resource=low, high_resource=high, languages=["te"]))
    assert not (tmp_path / "out").exists()


def test_what_is_no_data_directory_stays(labelled, tmp_path):
    settings = Settings(low_resource=[f"{labelled}/te.tsv"])
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "train.low.tsv").write_text("mine")
    with pytest.raises(InputError, match="holds something else than a data directory of fairseq-xl classify prepare"):
        prepare(tmp_path / "out", settings)
    assert (tmp_path / "out" / "train.low.tsv").read_text() == "mine"
    (tmp_path / "out" / "train.low.tsv").unlink()
    prepare(tmp_path / "out", settings)
    before = (tmp_path / "out" / "manifest.json").read_bytes()
    with pytest.raises(InputError, match="no n-gram stands so often"):
        prepare(tmp_path / "out", replace(settings, min_count=100_000))
    assert (tmp_path / "out" / "manifest.json").read_bytes() == before


def test_the_high_resource_text_word_for_word(make, tmp_path):
    (tmp_path / "x.tsv").write_text("good\tbueno\t0.9\nbad\tmalo\nbad\tfeo\nis\tes\n", encoding="utf-8")
    low = "".join(f"{c}\tuno {c} {i}\n" for i in range(20) for c in ("pos", "neg"))
    high = "pos\tGood, it is good-ish\nneg\tBAD isn't bad\nneg\tnothing\n"
    (tmp_path / "h").write_text(high, encoding="utf-8")

    def translated(**settings):
        source = Settings(
            low_resource=[str(tmp_path / "l")],
            high_resource=[f"{tmp_path}/h,lexicon={tmp_path}/x.tsv"],
            languages=["es", "en"],
            **settings,
        )
        prepare(tmp_path / "out", source)
        return [text for _, text in rows(DataDirectory(tmp_path / "out"), "train", "high")]

    make(low, high)
    assert translated() == ["bueno, it es bueno-ish", "malo isn't malo", "nothing"]
    controls = {tuple(translated(shuffle_lexicon=True, seed=seed)) for seed in range(1, 9)}
    assert ("bueno, it bueno bueno-ish", "malo isn't malo", "nothing") not in controls
    assert len(controls) > 2
    for text in (text for control in controls for text in control[:2]):
        assert set(text.replace(",", "").replace("-ish", "").split()) <= {"bueno", "malo", "es", "it", "isn't"}
    with pytest.raises(InputError, match="no --high-resource source names a lexicon"):
        make(low, high, shuffle_lexicon=True)
    (tmp_path / "x.tsv").write_text("", encoding="utf-8")
    with pytest.raises(InputError, match="has no words"):
        translated()
    # pairs of sentences are no lexicon
    (tmp_path / "x.tsv").write_text("Good, it is good-ish\tBueno es\n", encoding="utf-8")
    for shuffled in (False, True):
        with pytest.raises(InputError, match=r"x\.tsv translates no word of .*h: name what `fairseq-xl data lexicon`"):
            translated(shuffle_lexicon=shuffled)
    # a word may be its own translation
    (tmp_path / "x.tsv").write_text("good\tgood\n", encoding="utf-8")
    assert translated() == ["good, it is good-ish", "BAD isn't bad", "nothing"]
