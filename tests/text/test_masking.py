"""What is masked in a line, and what only looks like it."""

from __future__ import annotations

import pytest

from fairseq_xl.text.masking import masked


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
