"""Bytes of pages as text."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st
from lxml.etree import tostring
from lxml.html import fragment_fromstring

from fairseq_xl.corpus.crawling.html import MOST_ATTRIBUTES, decode, is_html, parse

CODECS = ["zlib", "hex", "rot13", "base64", "undefined", "idna", "punycode", "unicode_escape", "nonsense"]
FRENCH = "L'été à Besançon, où l'on a mangé des crêpes près de l'hôtel ; ça coûte dix €."


@pytest.mark.parametrize(
    ("body", "header", "text", "encoding"),
    [
        (FRENCH.encode(), "text/html; charset=utf-8", FRENCH, "utf-8"),
        (FRENCH.encode(), None, FRENCH, "utf-8"),
        (FRENCH.encode("cp1252"), "text/html; charset=windows-1252", FRENCH, "cp1252"),
        (b"\xef\xbb\xbf" + FRENCH.encode(), "text/html; charset=iso-8859-1", FRENCH, "utf-8"),
        (FRENCH.encode("utf-16"), None, FRENCH, "utf-16-le"),
        (b'<meta charset="iso-8859-15">' + FRENCH.encode("iso-8859-15"), None, None, "iso8859-15"),
        # the header is wrong, the page is right
        (b'<meta charset="koi8-r">' + "Привет".encode("koi8-r"), "text/html; charset=utf-8", None, "koi8-r"),
        # nobody says anything that is true
        (FRENCH.encode("cp1252"), "text/html; charset=utf-8", FRENCH, "cp1252"),
        # a piece of windows-1252 was pasted into UTF-8
        (FRENCH.encode() + "«été»".encode("cp1252"), None, FRENCH + "«été»", "utf-8+cp1252"),
        (b"", None, "", "utf-8"),
        # names of codecs that are no encodings of texts
        (FRENCH.encode(), "text/html; charset=hex", FRENCH, "utf-8"),
        *((f"<meta charset={name}>{FRENCH}".encode(), None, None, "utf-8") for name in CODECS),
        (b"<meta charset=zlib>" + FRENCH.encode("cp1252"), None, None, "cp1252"),
    ],
)
def test_encodings(body, header, text, encoding):
    found, name = decode(body, header)
    assert name == encoding
    if text is None:
        assert "\ufffd" not in found
    else:
        assert found == text


def test_many_wrong_bytes_take_no_longer_than_as_many_right_ones():
    body = ("é" * 300_000 + " ").encode() + b"\xe9 " * 100_000
    text, encoding = decode(body)
    assert encoding == "utf-8+cp1252"
    assert text.count("é") == 400_000


@given(st.binary(max_size=200))
def test_any_bytes_are_some_text_and_some_tree(body):
    text, _ = decode(body)
    tree = parse(text)
    assert tree is None or tree.tag


@pytest.mark.parametrize(
    ("header", "body", "expected"),
    [
        ("text/html", b"", True),
        ("Application/XHTML+xml; charset=x", b"", True),
        ("application/pdf", b"<html>", False),
        (None, b"  <!DOCTYPE html>", True),
        (None, b"%PDF", False),
    ],
)
def test_is_html(header, body, expected):
    assert is_html(header, body) is expected


@pytest.mark.parametrize("between", [" ", "/", '\n="q" ', '=">" ', "='>' ", '="', "='", " = ", '"', "<", "<a "])
@pytest.mark.parametrize("tag", ["<p ", "</p ", "<svg:p "])
def test_a_tag_of_any_number_of_attributes_takes_no_longer_than_as_much_text(tag, between):
    page = f"<html><body><p>first</p>{tag}{between.join(f'a{i}' for i in range(30_000))}>x</p>last</body></html>"
    start = time.process_time()
    assert parse(page) is not None
    assert time.process_time() - start < 2


def test_what_follows_a_tag_of_too_many_attributes_is_read():
    many = " ".join(f"a{i}='{i}'" for i in range(30_000))
    body = f"<body><p id='one' {many} class='lost'>first</p><p class=last>last</p></body>"
    found = parse(f"<html lang=en {many}>{body}</html>")
    assert found.get("lang") == "en"
    assert found.text_content() == "firstlast"
    one, last = found.iter("p")
    assert (one.get("id"), last.get("class"), len(one.attrib)) == ("one", "last", MOST_ATTRIBUTES)
    whole = '<p title="a > b" data-x = \'c\' hidden href=x/y>text <b/ class="d">more</b></p>'
    assert tostring(parse(f"<html><body>{whole}</body></html>").find(".//p")) == tostring(fragment_fromstring(whole))
