"""From pages to lines."""

from __future__ import annotations

import pytest

from fairseq_xl.corpus.documents.extract import Extractor, ExtractSettings, SentenceSplitter, clean, documents
from fairseq_xl.io.errors import InputError

PAGE = """<html><head><title>not shown</title><script>var x = 'no text';</script></head><body>
<nav>The menu here <a>Home</a></nav>
<div class="content"><h1>A short title</h1><p>First paragraph,
 broken in   two.</p><ul><li>An item here</li><li>Item</li><li>123 456</li></ul>
<div class="content inner">Inside the other</div><pre>some code here</pre></div>
<div id="foot">The last line</div></body></html>"""


def lines(**settings):
    return Extractor(ExtractSettings(**settings)).lines(PAGE)


def test_the_whole_page():
    assert lines() == [
        "The menu here Home",
        "A short title",
        "First paragraph, broken in two.",
        "An item here",
        "Inside the other",
        "some code here",
        "The last line",
    ]


def test_only_chosen_elements_each_once():
    assert lines(only=["#foot", ".content"], without=["pre"]) == [
        "A short title",
        "First paragraph, broken in two.",
        "An item here",
        "Inside the other",
        "The last line",
    ]
    assert lines(only=[".absent"]) == []


def test_main_content():
    sentences = "".join(f"<p>Paragraph number {n} says a good deal of something.</p>" for n in range(9))
    page = f"<html><body><nav><a href=x>The menu here</a></nav><article>{sentences}</article></body></html>"
    found = Extractor(ExtractSettings(content="main")).lines(page)
    assert found == [f"Paragraph number {n} says a good deal of something." for n in range(9)]


@pytest.mark.parametrize("page", ["", "<", "\x00", "<html", "<p>x<table><b></i>", "<div>" * 3000])
def test_broken_pages_have_no_lines_and_do_no_harm(page):
    assert Extractor(ExtractSettings(without=["html"])).lines(page) == []
    assert Extractor(ExtractSettings()).lines(page) == []


def test_clean():
    text = "one\n * two words \n12 34\n\n  1. in  order\n首页新闻\n首\n— * both marks\nno\u00a0break\n2019. a year"
    assert clean(text) == ["two words", "in order", "首页新闻", "both marks", "no break", "2019. a year"]


def test_a_selector_that_is_none():
    with pytest.raises(InputError, match=r"extract\.only: 'a\[' is no CSS selector"):
        lines(only=["a["])


@pytest.mark.slow
@pytest.mark.parametrize("language", ["en", "fr-CA", "tlh"])
def test_sentences(language):
    split = SentenceSplitter(language)
    assert split(["One is here. Two is there! No", "Three and more"]) == [
        "One is here.",
        "Two is there!",
        "Three and more",
    ]


def run(sides, hosts=("http://x.org", "http://x.org"), **settings):
    """Documents and counts of pairs of HTML."""
    bodies, pages, pairs = {}, {}, []
    for number, pair in enumerate(sides):
        addresses = [f"{host}/{side}{number}?v" for side, host in zip("ab", hosts, strict=True)]
        for url, body in zip(addresses, pair, strict=True):
            body = body if isinstance(body, bytes) else body.encode()
            bodies[url] = body
            pages[url] = {"url": url, "sha256": url, "headers": [["Content-Type", "text/html"]]}
        pairs.append({"urls": addresses, "found_by": "link"})
    counts = {}
    found = documents(pages, pairs, bodies.__getitem__, ("en", "fr"), ExtractSettings(**settings), counts)
    return list(found), counts


GOOD = "<p>one line</p><p>another line</p>", "<p>une ligne</p><p>autre ligne</p>"
LONGER = "<p>one line</p>", "<p>une ligne</p><p>autre ligne</p>"
SAME = GOOD[0], GOOD[0]
EMPTY = GOOD[0], "<p>rien</p>"
MIXED = GOOD[0], ("<p>é à où</p>".encode() * 3 + b"<p>\xe9t\xe9 long</p>").replace(b"</p><p>", b" ", 2)


def test_documents():
    found, counts = run([GOOD, LONGER, SAME, EMPTY, MIXED])
    assert [document.id for document in found] == ["/a0?v", "/a4?v"]
    assert found[0].urls == ("http://x.org/a0?v", "http://x.org/b0?v")
    assert found[0].lines == (["one line", "another line"], ["une ligne", "autre ligne"])
    assert found[1].lines[1] == ["é à où é à où é à où", "été long"]
    assert {name: value for name, value in counts.items() if isinstance(value, int)} == {
        "documents": 2,
        "equal": 2,
        "unequal": 1,
        "no text": 1,
        "same text": 1,
        "mixed encodings": 1,
    }
    assert counts["pairs of unequal pages"] == [["/a1?v", 1, 2]]
    assert counts["pairs of the same text"] == ["/a2?v"]
    assert counts["pairs without text"] == ["/a3?v"]


def test_unequal_pages_and_same_text_are_kept_on_demand():
    found, counts = run([GOOD, LONGER, SAME], unequal="keep", same_text=1.1)
    assert len(found) == counts["documents"] == 3


def test_two_hosts_are_told_apart():
    found, _ = run([GOOD], hosts=("http://x.org", "http://fr.x.org:81"))
    assert found[0].id == "x.org/a0?v"
