"""A page's bytes as text and as a tree."""

from __future__ import annotations

import codecs
import re

import lxml.html
from lxml.etree import ParserError
from w3lib.encoding import html_body_declared_encoding, http_content_type_encoding, read_bom

from fairseq_xl.io.lines import text_encoding

_CONTROL = re.compile("[\x00-\x08\x0b\x0e-\x1f\x7f]")
_START = re.compile(rb"<\s*(!doctype\s+html|html|head|body)\b", re.IGNORECASE)
_PASTED = "fairseq_xl.corpus.cp1252"
MOST_ATTRIBUTES = 200
"""The most attributes of a tag. The parser compares each with all before it, so 50,000 take it 20 seconds."""
# This divides a tag as HTML does. Its steps are possessive, so every character is looked at once.
_SPACE = r"[ \t\n\f\r]*+"
_ATTRIBUTE = (
    rf"""(?>[ \t\n\f\r/]*+[^ \t\n\f\r/>][^ \t\n\f\r/>=]*+"""
    rf"""(?>{_SPACE}={_SPACE}(?>"[^"]*+"|'[^']*+'|[^ \t\n\f\r>]*+))?+)"""
)
_TAG = re.compile(rf"(</?[A-Za-z][^ \t\n\f\r/>]*+{_ATTRIBUTE}{{0,{MOST_ATTRIBUTES}}}+){_ATTRIBUTE}*+")
_TYPES = ("text/html", "application/xhtml+xml")


def is_html(content_type: str | None, body: bytes) -> bool:
    """Whether the server says that it is HTML, or, if it says nothing, whether it begins like HTML."""
    if content_type:
        return content_type.partition(";")[0].strip().lower() in _TYPES
    return _START.search(body[:1024]) is not None


def decode(body: bytes, content_type: str | None = None) -> tuple[str, str]:
    """The text of a page and its encoding's name.

    The byte order mark goes first, then what the HTTP header says, then what the page says, then UTF-8. Each counts if
    it is an encoding of texts (``charset=zlib`` names none) and the bytes are valid in it. Otherwise bytes that are
    mostly UTF-8 are UTF-8 with pieces pasted in from windows-1252 (named ``utf-8+cp1252``). The encoding of other bytes
    is guessed from their statistics.
    """
    marked, bom = read_bom(body)
    if marked and bom:
        return body[len(bom) :].decode(marked, "replace"), marked
    declared = (http_content_type_encoding(content_type), html_body_declared_encoding(body))
    for name in dict.fromkeys((*declared, "utf-8")):
        if name and (encoding := text_encoding(name)):
            try:
                return body.decode(encoding), encoding
            except UnicodeDecodeError:
                continue
    text = body.decode("utf-8", "replace")
    wrong = text.count("\ufffd")
    if sum(character > "\x7f" for character in text) > 2 * wrong:
        return body.decode("utf-8", _PASTED), "utf-8+cp1252"
    from charset_normalizer import from_bytes

    best = from_bytes(body).best()
    return (str(best), best.encoding) if best else (body.decode("utf-8", _PASTED), "utf-8+cp1252")


def _as_cp1252(error: UnicodeError) -> tuple[str, int]:
    assert isinstance(error, UnicodeDecodeError)
    return error.object[error.start : error.end].decode("cp1252", "replace"), error.end


codecs.register_error(_PASTED, _as_cp1252)


def parse(text: str) -> lxml.html.HtmlElement | None:
    """The tree of a page, however broken. None if the page holds nothing. A tag has MOST_ATTRIBUTES at most."""
    text = _TAG.sub(r"\1", _CONTROL.sub("", text))
    parser = lxml.html.HTMLParser(encoding="utf-8")
    try:
        return lxml.html.document_fromstring(text.encode(errors="replace"), parser)
    except ParserError:
        return None
