from __future__ import annotations

import json

import pytest

from fairseq_xl.io.errors import InputError
from fairseq_xl.io.lexicons import read_entries, read_translations, write_lexicon


@pytest.mark.parametrize("name", ["l.tsv", "l.json"])
def test_files_give_back_the_best_translation(tmp_path, name):
    path = tmp_path / name
    lexicon = {"Haus": [("house", 0.75), ("home", 0.125)], "10": [("ten", 1.0)]}
    write_lexicon(lexicon, path, as_json=name.endswith("json"))
    assert read_translations(path) == {"Haus": "house", "10": "ten"}
    assert read_entries(path) == [("Haus", "house", 0.75), ("Haus", "home", 0.125), ("10", "ten", 1.0)]
    text = path.read_text(encoding="utf-8")
    if name == "l.tsv":
        assert text == "Haus\thouse\t0.750000\nHaus\thome\t0.125000\n10\tten\t1.000000\n"
    else:
        assert json.loads(text)["Haus"] == [["house", 0.75], ["home", 0.125]]


def test_lexicons_made_by_hand_need_no_weights(tmp_path):
    (tmp_path / "a.tsv").write_text("Haus\thouse\nin Ruhe\tquietly\nKatze cat\n")
    assert read_translations(tmp_path / "a.tsv") == {"Haus": "house", "in Ruhe": "quietly", "Katze": "cat"}
    (tmp_path / "a.json").write_text('{"Haus": "house"}')
    assert read_translations(tmp_path / "a.json") == {"Haus": "house"}


def test_the_largest_weight_counts_and_the_first_without(tmp_path):
    path = tmp_path / "a"
    path.write_text("chat\tcat\nChat\tpuss\nbanc\tbank\t0.2\nBanc\tbench\t0.7\nbanc\tseat\t0.4\n", encoding="utf-8")
    assert read_translations(path) == {"chat": "cat", "Chat": "puss", "banc": "seat", "Banc": "bench"}
    assert read_translations(path, lower=True) == {"chat": "cat", "banc": "bench"}


def test_logarithms_are_weights_too(tmp_path):
    (tmp_path / "a").write_text("das the -0.1\ndas that -2.3\nein one -1.9\nein a -0.2\n")
    assert read_translations(tmp_path / "a") == {"das": "the", "ein": "a"}


@pytest.mark.parametrize("line", ["chat", "chat\t", "\tcat", "a\tb\tc", "a\tb\t1\t2", "in Ruhe quietly now", ""])
def test_a_line_that_is_no_word_pair(tmp_path, line):
    (tmp_path / "a.tsv").write_text(f"chien\tdog\n{line}\n")
    with pytest.raises(InputError, match=r"a\.tsv, line 2: expected a word, its translation and maybe a weight"):
        read_translations(tmp_path / "a.tsv")


@pytest.mark.parametrize(
    "text",
    [
        "[1]",
        '{"a": ""}',
        '{"": "b"}',
        '{"a": ["b1"]}',
        '{"a": [[3, 0.5]]}',
        '{"a": ["b"]}',
        '{"a": 3}',
        '{"a": [["b", null]]}',
        "{",
    ],
)
def test_what_is_no_lexicon_in_json(tmp_path, text):
    (tmp_path / "a.json").write_text(text)
    with pytest.raises(InputError, match="is no lexicon in JSON"):
        read_translations(tmp_path / "a.json")


@pytest.mark.parametrize(("name", "text"), [("a.tsv", ""), ("a.json", "{}"), ("a.json", '{"a": []}')])
def test_a_lexicon_without_words(tmp_path, name, text):
    (tmp_path / name).write_text(text)
    with pytest.raises(InputError, match=f"{name} has no words"):
        read_translations(tmp_path / name)
