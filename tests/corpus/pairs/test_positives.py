"""Sentences once, without menus."""

from __future__ import annotations

from fairseq_xl.corpus.pairs.positives import collect

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
