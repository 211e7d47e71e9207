from __future__ import annotations

import json

import numpy as np
import pytest
from scipy import sparse

from fairseq_xl.io.errors import InputError
from fairseq_xl.text.lexicons.bitext import read_bitext
from fairseq_xl.text.lexicons.lexicon import make_lexicon, read_translations, write_lexicon


@pytest.fixture
def bitext(tmp_path):
    (tmp_path / "de").write_text("a a b\nc a\n")
    (tmp_path / "en").write_text("x y\nz x\n")
    return read_bitext(tmp_path / "de", tmp_path / "en")  # a, b, c; x, y, z


COUNTS = sparse.csr_matrix(np.array([[1.0, 3.0, 1.0], [0.0, 0.2, 0.0], [0.0, 0.0, 0.0]]))
TOTALS = np.array([5.0, 0.4, 0.0])


def test_entries_come_best_first_and_limits_hold(bitext):
    every = {"a": [("y", 0.6), ("x", 0.2), ("z", 0.2)], "b": [("y", 0.5)]}
    assert make_lexicon(bitext, COUNTS, TOTALS, best=5) == every
    assert make_lexicon(bitext, COUNTS, TOTALS, best=1) == {"a": every["a"][:1], "b": every["b"]}
    assert make_lexicon(bitext, COUNTS, TOTALS, 0.55) == {"a": every["a"][:1]}
    assert make_lexicon(bitext, COUNTS, TOTALS, min_count=2, best=5) == {"a": every["a"]}


@pytest.mark.parametrize("name", ["l.tsv", "l.json"])
def test_files_give_back_the_first_translation(tmp_path, name):
    path = tmp_path / name
    lexicon = {"Haus": [("house", 0.75), ("home", 0.125)], "10": [("ten", 1.0)]}
    write_lexicon(lexicon, path, as_json=name.endswith("json"))
    assert read_translations(path) == {"Haus": "house", "10": "ten"}
    text = path.read_text(encoding="utf-8")
    if name == "l.tsv":
        assert text == "Haus\thouse\t0.750000\nHaus\thome\t0.125000\n10\tten\t1.000000\n"
    else:
        assert json.loads(text)["Haus"] == [["house", 0.75], ["home", 0.125]]


def test_dictionaries_made_by_hand_need_no_probabilities(tmp_path):
    (tmp_path / "a.tsv").write_text("Haus\thouse\nin Ruhe\tquietly\n")
    assert read_translations(tmp_path / "a.tsv") == {"Haus": "house", "in Ruhe": "quietly"}
    (tmp_path / "a.json").write_text('{"Haus": "house"}')
    assert read_translations(tmp_path / "a.json") == {"Haus": "house"}


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("a.tsv", "a\tb\nHaus house\n", r"a.tsv, line 2: .* not 'Haus house'"),
        ("a.tsv", "\thouse\n", "line 1"),
        ("a.json", "[1]", "is no lexicon in JSON"),
        ("a.json", '{"a": []}', "is no lexicon in JSON"),
        ("a.json", '{"a": [[3, 0.5]]}', "is no lexicon in JSON"),
        ("a.json", "{", "is no lexicon in JSON"),
    ],
)
def test_what_is_no_lexicon_is_refused(tmp_path, name, text, message):
    (tmp_path / name).write_text(text)
    with pytest.raises(InputError, match=message):
        read_translations(tmp_path / name)


def test_command_writes_lines_and_json(tmp_path, run_cli):
    (tmp_path / "de").write_text("das Haus\ndas Boot\nein Haus\n" * 5)
    (tmp_path / "en").write_text("the house\nthe boat\na house\n" * 5)
    (tmp_path / "links").write_text("0-0 1-1\n" * 15)
    texts = tmp_path / "de", tmp_path / "en"
    done = run_cli("data", "lexicon", *texts, "--output", tmp_path / "l.tsv", "--best", 1)
    assert done.returncode == 0, done.stderr
    assert "4 translations of 4 of 4 words" in done.stderr
    assert read_translations(tmp_path / "l.tsv") == {**{"das": "the", "Haus": "house", "Boot": "boat", "ein": "a"}}
    options = ("--alignments", tmp_path / "links", "--json")
    done = run_cli("data", "lexicon", *texts, "--output", tmp_path / "links.json", *options)
    assert done.returncode == 0, done.stderr
    assert json.loads((tmp_path / "links.json").read_text())["Haus"] == [["house", 1.0]]
    done = run_cli("data", "lexicon", *texts, "--output", tmp_path / "no", "--iterations", 0)
    assert done.returncode == 2
    assert done.stderr == "error: --iterations is 0: give a number from 1\n"
