"""Keys of English sentences and the words they rest on."""

from __future__ import annotations

import fnmatch
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fairseq_xl.io.errors import InputError
from fairseq_xl.pairs.augmentation import key as module
from fairseq_xl.pairs.augmentation.key import (
    NEGATIONS,
    QUESTIONS,
    STOP_WORDS,
    EnglishKey,
    hashed,
    normal_form,
    read_words,
)

ROOT = Path(__file__).resolve().parents[3]
KEY = EnglishKey.of_file()


@pytest.mark.parametrize(
    ("sentence", "bag"),
    [
        ("I'm waiting for the parcel", ["parcel", "waiting"]),
        ("Im waiting, for 2 parcels. I’ll WAIT!", ["parcels", "wait", "waiting"]),
        ("How do I open a dispute?", ["dispute", "how", "open"]),
        ("open dispute, open it", ["dispute", "open", "open"]),
        ("I don't want no parcel, never", ["no", "parcel", "want"]),
        ("i dont want the parcel", ["no", "parcel", "want"]),
        ("cannot pay", ["no", "pay"]),
        ("the seller's tracking.I wait", ["seller", "tracking", "wait"]),
        ("re send it again", ["again", "re", "send"]),
        ("would you order 12 345 things", ["order", "things"]),
        ("ｏｒｄｅｒ ４", ["order"]),
    ],
)
def test_bags(sentence, bag):
    assert KEY.bag(sentence) == bag


@pytest.mark.parametrize("sentence", ["", "how are you?", "is it not there yet?", "no", "Why not? 123", "?!"])
def test_no_key_where_nothing_tells(sentence):
    assert KEY.bag(sentence) == []
    assert KEY(sentence) is None


@given(st.permutations(["Parcel", "order", "doesn't", "arrive", "the", "17"]))
def test_order_case_and_function_words_do_not_matter(words):
    assert KEY(" ".join(words)) == KEY("my order parcel: ARRIVE not")


def test_negation_and_questions_matter():
    assert KEY("I received the parcel") != KEY("I have not received the parcel")
    assert KEY("how to open a dispute") != KEY("when to open a dispute")


def test_other_stop_words(tmp_path):
    path = tmp_path / "words.txt"
    path.write_text("# mine\nplease How\n\nopen\n", encoding="utf-8")
    assert EnglishKey.of_file(path).bag("please how the OPEN dispute") == ["dispute", "the"]


@pytest.mark.parametrize(("content", "message"), [("# nothing\n", "holds no words"), (None, "there is no file")])
def test_stop_words_that_are_none(tmp_path, content, message):
    path = tmp_path / "words.txt"
    if content is not None:
        path.write_text(content, encoding="utf-8")
    with pytest.raises(InputError, match=message):
        read_words(path)


@given(st.text(), st.integers(0, 2**40))
def test_hashes_fit_a_database_and_repeat(text, seed):
    number = hashed(text, seed)
    assert -(2**63) <= number < 2**63
    assert number == hashed(text, seed)


def test_hashes_are_the_same_on_every_machine():
    assert hashed("order parcel") == -9066982367647434950
    assert hashed("order parcel") != hashed("order parcel", 1)


def test_normal_form_keeps_all_words():
    assert normal_form("¿Qué  ES, esto?") == "qué es esto"
    assert normal_form("E-mail.Don’t") == "e mail don t"
    assert len(normal_form("a " * 500).split()) == 500


def test_lists():
    words, negations, questions = (read_words(path) for path in (STOP_WORDS, NEGATIONS, QUESTIONS))
    assert {"i'm", "im", "i'll", "ill", "would", "you're", "the"} <= words
    assert not {"re", "again", "id", "no", "not", "how"} & words
    assert {"no", "not", "never", "dont", "cant"} <= negations
    assert not words & negations
    assert not words & questions
    assert all(word == word.lower() for word in words | negations | questions)


def test_lists_are_shipped():
    patterns = (ROOT / "MANIFEST.in").read_text(encoding="utf-8").split("recursive-include fairseq_xl ")[1].split()
    for path in (STOP_WORDS, NEGATIONS, QUESTIONS):
        assert path.is_file()
        assert path.parent == Path(module.__file__).parent
        assert any(fnmatch.fnmatch(path.name, pattern) for pattern in patterns)
