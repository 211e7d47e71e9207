from __future__ import annotations

import gzip

import pytest
from dictionaries import write_dictd
from hypothesis import given
from hypothesis import strategies as st

from fairseq_xl.io.errors import InputError
from fairseq_xl.text.lexicons.dictd import read_dictd

GOOD = (
    "good",
    'good /gud/ <Adj>\n1. em paz, bom\n      "mau, pior"\n2. bem [pop.] <adv> (muito)\n   Note: de\n see: {well}\n',
)


@pytest.mark.parametrize("packed", [True, False])
def test_words_come_before_phrases_without_grammar_examples_and_notes(tmp_path, packed):
    database = ("00-database-info", "00-database-info\nDictionary\n1. bad\n")
    index = write_dictd(tmp_path / "a.index", [database, GOOD, ("good day", "good day\nbom dia\n")], packed)
    assert read_dictd(index) == {"good": ["bom", "bem", "em paz"]}


def test_entries_of_one_word_are_joined_whatever_its_case(tmp_path):
    entries = [("Love", "Love /lv/ <N>\namor\n"), ("love", "love <V>\namar; amor\nsee: like\n"), ("so", "so /so/\n")]
    assert read_dictd(write_dictd(tmp_path / "a.index", entries)) == {"love": ["amor", "amar"]}


@given(st.lists(st.text("abcäß", min_size=1, max_size=9), min_size=1, max_size=40, unique=True))
def test_places_of_any_entry_are_found(tmp_path_factory, words):
    entries = [(word, f"{word} /x/\n{'y' * (n % 7) + word}\n") for n, word in enumerate(words)]
    found = read_dictd(write_dictd(tmp_path_factory.mktemp("d") / "a.index", entries))
    assert found == {word: ["y" * (n % 7) + word] for n, word in enumerate(words)}


def refused(index, match):
    with pytest.raises(InputError, match=match):
        read_dictd(index)


def test_what_is_no_dictionary_is_refused(tmp_path):
    index = write_dictd(tmp_path / "a.index", [GOOD])
    line = index.read_text(encoding="utf-8")
    for damaged in (line.replace("\tA\t", "\t\t"), line.replace("\tA\t", "\tÄ\t"), "good\tA\n", "\n"):
        index.write_text(damaged, encoding="utf-8")
        refused(index, "line 1: a line is a word, and a place and a length in base 64")
    index.write_text(line.replace("\tA\t", "\tZZ\t"), encoding="utf-8")
    refused(index, "the entry of 'good' is beyond the dictionary's end")
    index.write_text("good\tA\tE\n", encoding="utf-8")
    refused(index, "no word with a translation")
    (tmp_path / "a.dict.dz").write_bytes(gzip.compress("gößd\nbom\n".encode("latin-1")))
    refused(index, "the entry of 'good' is no UTF-8")
    (tmp_path / "a.dict.dz").write_bytes(b"good")
    refused(index, r"a\.dict\.dz: not a complete gzip file")
    (tmp_path / "a.dict.dz").unlink()
    refused(index, r"there is no file .*a\.dict\.dz")
    refused(tmp_path / "a.dict.dz", r"give FILE\.index")
    refused(tmp_path / "b.index", r"there is no file .*b\.dict\.dz")
