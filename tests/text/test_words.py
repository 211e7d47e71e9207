"""Words of lines, and lines that are alike."""

from __future__ import annotations

import pytest

from fairseq_xl.text.words import frequency_cosine, key


def test_distance_by_hand():
    # (2, 1, 0) and (1, 1, 1): 3 / √(5 · 3)
    assert frequency_cosine("The cat, the", "the CAT dog") == pytest.approx(3 / 15**0.5)
    assert frequency_cosine("...", "the") == 0


def test_key_ignores_case_punctuation_and_addresses():
    assert key("Write to a.b@example.org, NOW!") == key("write to c@example.com now")
    assert key("Write now") != key("Right now")
    assert key("…") != key("?")
