"""The page holds everything, escapes everything and needs nothing; translations stand side by side."""

import re
from html.parser import HTMLParser

import pytest

from fairseq_xl.report.page import Pair, Section, Translations, marked, page, side_by_side
from fairseq_xl.report.tables import Table


class Checker(HTMLParser):
    """Tags that are opened are closed, in order."""

    VOID = ("meta", "img", "source", "br")

    def __init__(self):
        super().__init__()
        self.open = []
        self.tags = []

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag


def test_page(drawn, tmp_path):
    table = Table("<Scores>", ["system", "BLEU"])
    table.add("<b>bold</b>", "30")
    table.notes.append("A & B")
    words = ([("<i>", True), ("dog", False)], [("cat", True)])
    pair = Pair(7, "ein <Hund>", "a dog", (60.0, 10.0), words)
    sections = [
        Section("Scores", "What <it> shows.", [table], [drawn(tmp_path)]),
        Section("Sentences", translations=[Translations(("one", "two"), [pair])]),
    ]
    text = page("Title <x>", sections, ["Left out: <one>", "python 3"])
    checker = Checker()
    checker.feed(text)
    assert checker.open == []
    assert "&lt;b&gt;bold" in text
    assert "<b>bold" not in text
    assert "<mark>&lt;i&gt;</mark>" in text
    assert "ein &lt;Hund&gt;" in text
    sources = [attrs.get("src") or attrs.get("srcset") for tag, attrs in checker.tags if tag in ("img", "source")]
    assert len(sources) == 2
    assert all(source.startswith("data:image/png;base64,") for source in sources)
    assert sources[0] != sources[1], "one for light and one for dark ground"
    assert not re.search(r"https?://", text), "nothing is fetched"
    assert "<script" not in text
    links = [attrs["href"] for tag, attrs in checker.tags if tag == "a"]
    anchors = {f"#{attrs['id']}" for tag, attrs in checker.tags if "id" in attrs}
    assert set(links) == anchors


def test_marks_are_what_the_other_lacks():
    one, two = ["he", "sees", "the", "red", "house", "."], ["she", "sees", "the", "house", "there", "."]
    assert [word for word, other in marked(one, two) if other] == ["he", "red"]
    assert [word for word, other in marked(two, one) if other] == ["she", "there"]
    assert [word for word, _ in marked(one, two)] == one


def test_the_largest_difference_comes_first():
    references = ["a man runs .", "the big dog sits .", "a cat is here ."]
    first = ["a man runs .", "the big dog sits .", "a cat is here ."]
    second = ["a man runs .", "nothing alike", "a cat was here ."]
    pairs = side_by_side(["s1", "s2", "s3"], references, first, second)
    assert [pair.number for pair in pairs] == [2, 3], "equal translations are left out"
    assert pairs[0].source == "s2"
    assert pairs[0].scores[0] == pytest.approx(100)
    assert pairs[0].scores[1] < 30
    assert all(other for _, other in pairs[0].words[0])
    assert len(side_by_side(["s"] * 3, references, first, second, count=1)) == 1


def test_unequal_numbers():
    with pytest.raises(ValueError, match="unequal"):
        side_by_side(["s"], ["r"], ["one"], ["one", "two"])
