"""Names of encodings."""

from __future__ import annotations

import pytest

from fairseq_xl.io.encodings import text_encoding


@pytest.mark.parametrize(
    ("name", "found"),
    [("UTF8", "utf-8"), ("latin1", "iso8859-1"), ("windows-1252", "cp1252"), ("Shift_JIS", "shift_jis")],
)
def test_encodings_of_texts(name, found):
    assert text_encoding(name) == found


@pytest.mark.parametrize("name", ["zlib", "hex", "rot13", "base64", "bz2", "uu", "quopri"])
def test_codecs_that_make_no_text_of_bytes(name):
    assert text_encoding(name) is None


@pytest.mark.parametrize(
    "name", ["undefined", "idna", "punycode", "unicode_escape", "unicode-escape", "RAW_UNICODE_ESCAPE", "charmap"]
)
def test_codecs_of_other_things_than_texts(name):
    assert text_encoding(name) is None


@pytest.mark.parametrize("name", ["", "none", "aliases", "a\0b", "\ud800", "é", "x" * 10_000])
def test_no_codec_at_all(name):
    assert text_encoding(name) is None
