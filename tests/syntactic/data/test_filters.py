"""Which sentences are fit."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fairseq_xl.syntactic.data.filters import FILTERS, folded, incomplete, several_sentences, tidy, too_short, words


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("I see.", 2),
        ("Don't go there!", 3),
        ("L'homme dort - bien.", 3),
        ("- ? !", 0),
        ("我爱你。", 2),
        ("我不知道。", 2),
        ("我昨天去了北京。", 4),
        ("我有2个apple。", 4),
        ("나는 학교에 간다.", 3),
        ("फिर मिलेंगे।", 2),
        ("", 0),
    ],
)
def test_words(text, number):
    assert words(text) == number
    assert too_short(text, "en", 3) == (number < 3)


@pytest.mark.parametrize(
    ("text", "language", "several"),
    [
        ("I came, I saw.", "en", False),
        ("I came. I saw.", "en", True),
        ("Really? Yes.", "en", True),
        ("Mr. Smith came home.", "en", False),
        ("He lives on St. John Street.", "en", False),
        ("J. R. R. Tolkien wrote it.", "en", False),
        ("The U.S. Army came.", "en", False),
        ("He paid 3.50 for it.", "en", False),
        ("Dr. Müller kommt z.B. heute.", "de", False),
        ("Er kam. Sie ging.", "de", True),
        ('Tom said: "I came." Then he left.', "en", True),
        ("Well… yes, perhaps.", "en", False),
        ("我来了。他走了。", "zh", True),
        ("我来了，他走了。", "zh", False),
        ("他问：“你来吗？”", "zh", False),
        ("뭐라고? 나는 간다.", "ko", True),
        ('He said "No!"', "en", False),
        ("- Ja. - Nein.", "de", True),
        ("Stop !", "fr", False),
    ],
)
def test_several_sentences(text, language, several):
    assert several_sentences(text, language, 3) == several


@pytest.mark.parametrize(
    ("text", "broken"),
    [
        ("He came home.", False),
        ("He came home", True),
        ("he came home.", True),
        ("...and then he came.", True),
        ("And then he…", True),
        ("And then he...", True),
        ("He came,", True),
        ('"He came home."', False),
        ("¿Vienes a casa?", False),
        ("«Il est venu.»", False),
        ("他回家了。", False),
        ("他回家了", True),
        ("나는 간다.", False),
        ("3 cats came.", False),
        ("'s Avonds lees ik.", False),
        ("?", True),
    ],
)
def test_incomplete(text, broken):
    assert incomplete(text, "en", 3) == broken


def test_names_of_filters():
    assert list(FILTERS) == ["short", "several", "incomplete"]


@given(st.text())
def test_tidy(text):
    found = tidy(text)
    assert found == unicodedata.normalize("NFC", found) == " ".join(found.split())
    assert tidy(found) == found
    assert not set(found) & set("\n\r\t\x00\ufeff\u200b\u00ad")


def test_tidy_examples():
    assert tidy(" a\u0301\u200b \tb\ufeff\u2028c\x07 ") == "á b c"
    assert tidy("می\u200cخواهم") == "می\u200cخواهم"


def test_folded():
    assert folded("Stop it!") == folded(" stop  IT.") == "stopit"
    assert folded("ＡＢＣ１") == "abc1"
    assert folded("?!") == "?!" != folded("!")
    assert folded("Straße") == folded("STRASSE")
    assert folded("İstanbul") == folded("istanbul")
    assert folded("मैं काम करता हूँ।") != folded("मैं काम करती हूँ।")
    assert folded("เขามา") != folded("เขาม้า")
    assert folded("كَتَبَ") == folded("كتب")
    assert folded("So ❤\ufe0f it") == folded("so it")
