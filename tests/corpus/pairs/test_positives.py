"""Sentences once, without menus."""

from __future__ import annotations

import pytest

from fairseq_xl.corpus.pairs.positives import Placed, collect, read_positives, write_positives
from fairseq_xl.io.errors import InputError

from .conftest import documents


def test_sentences_once_without_menus():
    pages = [[("Home page", "Accueil"), ("Cats sleep.", "Les chats dorment."), ("Apache MPM", "apache mpm")]]
    pages.append([("Home page", "Accueil"), ("CATS SLEEP", "Le chat dort"), ("Dogs", "Les chats dorment")])
    pages.append([("Home page", "Accueil"), ("Birds fly", "Oiseaux")])
    found = collect(documents(pages, [0, 0, 0]), 0.7)
    assert found.first == ["Cats sleep.", "Birds fly"]
    assert found.home == [0, 2]
    assert found.pages[0] == {0, 1}
    assert found.seconds[0] == {"les chats dorment", "le chat dort"}
    assert found.counts == {
        "pairs in": 8,
        "left out, on too many pages": 3,
        "left out, the same in both languages": 1,
        "left out, repeated": 2,
    }


@pytest.mark.parametrize("spoiled", [("\t0\t", "\tno topic\t"), ("\tun chat", "")], ids=["no number", "a column less"])
def test_a_damaged_row_is_named(spoiled, tmp_path):
    path = tmp_path / "positives.tsv"
    rows = [Placed("p", 1, -1, "a dog", "un chien"), Placed("p", 0, 2, "a cat", "un chat")]
    write_positives(path, rows)
    assert read_positives(path) == rows
    path.write_text(path.read_text().replace(*spoiled))
    with pytest.raises(InputError, match=r"positives\.tsv, line 3: no pair: run `fairseq-xl corpus negatives` again"):
        read_positives(path)
