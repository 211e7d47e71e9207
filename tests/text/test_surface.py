"""What can be seen of a pair without knowing its languages."""

from __future__ import annotations

from fairseq_xl.text.surface import features


def test_features_by_hand():
    # Lengths 6 and 9; words 2 and 2; shared: 42; numbers: 42; marks: "!" and "!"; capitals: 1 and 0.
    found = features("Ab 42!", "cdefg 42!")
    assert found[:3] == [6, 9, 3]
    assert found[5:8] == [2, 2, 0]
    assert found[10:16] == [1, 2, 1 / 3, 1, 0, 1]
    assert found[16:] == [1, 0, 1, 1, 0]
    assert len(features("…", "")) == len(found)
