"""Replacing unknown words: on attention made by hand, and from logs as fairseq writes them."""

from __future__ import annotations

import numpy as np
import pytest

from fairseq_xl.io.errors import InputError
from fairseq_xl.text.hypotheses import read_hypotheses, read_replaced
from fairseq_xl.text.unknown_replacement import Counts, attended_word, replace_unk

SOURCE = ["die", "Eule", ",", "sagt", "12", "!"]
# Token 1 attends to the comma most, then to the owl; token 3 to the number.
ATTENTION = np.array(
    [
        [0.9, 0.1, 0.0, 0.0, 0.0, 0.0],
        [0.1, 0.3, 0.5, 0.1, 0.0, 0.0],
        [0.0, 0.0, 0.0, 1.0, 0.0, 0.0],
        [0.0, 0.2, 0.0, 0.0, 0.4, 0.4],
    ]
)
TOKENS = ["the", "<unk>", "says", "<unk>"]


def test_unknown_words_are_copied_or_translated_and_counted():
    counts = Counts()
    copied = replace_unk(TOKENS, ATTENTION, SOURCE, {}, counts)
    assert copied == ["the", "Eule", "says", "12"]
    assert counts == Counts(copied=2)
    words = {"Eule": "owl", "sagt": "SAYS"}
    translated = replace_unk(TOKENS, ATTENTION, SOURCE, words, counts)
    assert translated == ["the", "owl", "says", "12"]
    assert counts == Counts(translated=1, copied=3)
    assert str(counts) == ("4 unknown words: 1 translated by the lexicon, 3 copied from the source, 0 left")


def test_nothing_but_unknown_words_is_changed():
    tokens = ["owl", "owl", "<unk>", "<unk>"]
    found = replace_unk(tokens, ATTENTION[[0, 0, 1, 1]], SOURCE, {"Eule": "owl"}, Counts())
    assert found == ["owl"] * 4
    assert tokens[2] == "<unk>"


def test_punctuation_and_far_words_are_passed_over():
    weights = np.array([0.1, 0.2, 0.0, 0.3, 0.0, 0.4])
    words = ["a", "b", "c", "d", "e", "..."]
    assert attended_word(weights, words, 0, np.inf) == 3
    assert attended_word(weights, words, 0, 2) == 1
    assert attended_word(weights, words, 3.6, 0.5) == 4
    assert attended_word(weights[:2], ["!", "«"], 0, np.inf) is None
    counts = Counts()
    assert replace_unk(["<unk>"], np.ones((1, 1)), ["!"], {}, counts) == ["<unk>"]
    assert counts == Counts(left=1)


def test_distance_is_from_the_diagonal():
    """Six tokens over three words: the fifth stands where the third word does."""
    attention = np.tile([0.6, 0.3, 0.1], (6, 1))
    tokens = ["a", "b", "c", "d", "<unk>", "f"]
    found = replace_unk(tokens, attention, ["x", "y", "z"], {}, Counts(), None, 0.6)
    assert found[4] == "z"


def test_pieces_attend_together():
    attention = np.array([[0.3, 0.3, 0.4]])
    source = ["Schnee@@", "mann", "da"]
    assert replace_unk(["<unk>"], attention, source, {}, Counts()) == ["da"]
    lexicon = {"Schneemann": "snowman"}
    found = replace_unk(["<unk>"], attention, source, lexicon, Counts(), "subword_nmt")
    assert found == ["snowman"]


LOG = """S-1\tein <unk>
T-1\ta donkey
H-1\t-0.25\ta <unk>
D-1\t-0.25\ta <unk>
P-1\t-0.1 -0.2 -0.3
A-1\t0.900000,0.050000,0.050000 0.200000,0.700000,0.100000 0.1,0.1,0.8
H-1\t-0.50\t<unk>
A-1\t0.1,0.1,0.8 0.1,0.1,0.8
S-0\tja
H-0\t-0.125\tyes
A-0\t0.5,0.5 0.5,0.5
"""


@pytest.fixture
def files(tmp_path):
    (tmp_path / "log").write_text(LOG)
    (tmp_path / "de").write_text("ja\nein Esel\n")
    return tmp_path


def test_a_log_gives_attention_and_the_text_the_spelling(files):
    assert read_replaced(files / "log", files / "de", {}) == (["yes", "a Esel"], Counts(copied=1))
    found, counts = read_replaced(files / "log", files / "de", {"Esel": "donkey"})
    assert found == ["yes", "a donkey"]
    assert counts == Counts(translated=1)
    assert read_hypotheses(files / "log") == ["yes", "a <unk>"]


def test_words_that_were_read_as_known_ones_are_copied_as_they_were_spelled(files):
    (files / "log").write_text(LOG.replace("S-1\tein <unk>", "S-1\tein Pferd"))
    (files / "known").write_text("ja\nein Pferd\n")
    with pytest.raises(InputError, match="is not line 2 of"):
        read_replaced(files / "log", files / "de", {})
    found, _ = read_replaced(files / "log", files / "de", {}, as_read=files / "known")
    assert found == ["yes", "a Esel"]
    (files / "known").write_text("ja\n")
    with pytest.raises(InputError, match="differ in their numbers of lines"):
        read_replaced(files / "log", files / "de", {}, as_read=files / "known")


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("S-1\tein", "S-1\tmein", r"sentence 1: its source 'mein <unk>' is not line 2 of"),
        ("S-1\tein", "S-1\tein x", "is not line 2 of"),
        ("A-1\t", "B-1\t", "holds no attention of sentence 1: .* --print-alignment soft"),
        ("A-1\t0.9", "A-1\t0-0 1-1\nA-1\t0.9", r"A-1 holds no weights; .* soft \(hard tells"),
        ("0.200000,0.700000,0.100000", "0.200000,0.1,0.100000", "does not sum to 1"),
        (" 0.1,0.1,0.8\nH-1", "\nH-1", "2 rows of attention for 2 tokens"),
    ],
)
def test_logs_that_cannot_tell_are_refused(files, old, new, message):
    (files / "log").write_text(LOG.replace(old, new))
    with pytest.raises(InputError, match=message):
        read_replaced(files / "log", files / "de", {})
