"""Parallel text as numbers."""

from __future__ import annotations

from pathlib import Path

import pytest

from fairseq_xl.io.errors import InputError
from fairseq_xl.text.lexicons.bitext import make_side, read_bitext


def test_words_are_numbered_as_they_come() -> None:
    side = make_side(["a b a", "", "c  b"])
    assert side.words == ["a", "b", "c"]
    assert side.tokens.tolist() == [0, 1, 0, 2, 1]
    assert side.starts.tolist() == [0, 3, 3, 5]
    assert side.lengths.tolist() == [3, 0, 2]


def test_both_sides_have_as_many_lines(tmp_path: Path) -> None:
    (tmp_path / "x").write_text("a b\nc\n")
    (tmp_path / "y").write_text("d\n")
    with pytest.raises(InputError):
        read_bitext(tmp_path / "x", tmp_path / "y")
    (tmp_path / "y").write_text("d\ne\n")
    assert read_bitext(tmp_path / "x", tmp_path / "y").target.words == ["d", "e"]
    (tmp_path / "y").write_text("\n \n")
    for sides in (("x", "y"), ("y", "x")):
        with pytest.raises(InputError, match=r"y has no word in it"):
            read_bitext(*(tmp_path / name for name in sides))
