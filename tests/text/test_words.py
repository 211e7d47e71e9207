"""Words of lines, masks, and lines that are alike."""

from __future__ import annotations

import pytest

from fairseq_xl.text.words import frequency_cosine, key, masked


def test_distance_by_hand():
    # (2, 1, 0) and (1, 1, 1): 3 / √(5 · 3)
    assert frequency_cosine("The cat, the", "the CAT dog") == pytest.approx(3 / 15**0.5)
    assert frequency_cosine("...", "the") == 0


def test_key_ignores_case_punctuation_and_addresses():
    assert key("Write to a.b@example.org, NOW!") == key("write to c@example.com now")
    assert key("Write now") != key("Right now")
    assert key("…") != key("?")


@pytest.mark.parametrize(
    ("text", "expected", "count"),
    [
        ("Mail a.b+c@x-y.example.org.", "Mail <email>.", 1),
        ("Call +1 (613) 555-0100 now", "Call <phone> now", 1),
        ("Tel. 01 44 55 66 77, 0044 20 7946 0958", "Tel. <phone>, <phone>", 2),
        ("(613) 555-0100", "<phone>", 1),
        ("Version 2.4.10.20160812, at 192.168.100.200", None, 0),
        ("On 2016-08-12 or 12/08/2016, 12345678 bytes", None, 0),
        ("RFC 2616 and 3986", None, 0),
    ],
)
def test_masks(text, expected, count):
    assert masked(text) == (expected or text, count)
