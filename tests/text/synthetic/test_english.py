"""English forms of words."""

from __future__ import annotations

import pytest

from fairseq_xl.text.synthetic import english


@pytest.mark.parametrize(
    ("form", "expected"),
    [
        (english.plural("wolf"), "wolves"),
        (english.plural("box"), "boxes"),
        (english.plural("story"), "stories"),
        (english.plural("boy"), "boys"),
        (english.third_person("carry"), "carries"),
        (english.third_person("catch"), "catches"),
        (english.past("carry"), "carried"),
        (english.past("like"), "liked"),
        (english.past("stop"), "stopped"),
        (english.past("drive"), "drove"),
        (english.past("walk"), "walked"),
    ],
)
def test_english_forms(form: str, expected: str) -> None:
    assert form == expected


@pytest.mark.parametrize(("word", "article"), [("cat", "a"), ("old", "an"), ("apple", "an")])
def test_the_article_fits_the_next_word(word: str, article: str) -> None:
    assert english.indefinite_article(word) == article
