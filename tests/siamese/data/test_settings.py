"""Settings of the preparation that make no sense."""

from __future__ import annotations

import pytest

from fairseq_xl.cli.main import main


@pytest.mark.parametrize(
    "options",
    [
        ("--seed", "-1"),
        ("--valid-share", "nan"),
        ("--min-count", "0"),
        ("--low-resource-size", "-5"),
        ("--high-resource-size", "-5"),
        ("--most-frequent", "-1"),
        ("--languages", "a", "b", "c"),
        ("--shuffle-high-resource",),
        ("--shuffle-lexicon",),
        ("--test-share", "0.9"),
        ("--ngrams", "2", "3"),
        ("--ngrams", "3", "3", "2"),
    ],
)
def test_numbers_that_make_no_sense(tmp_path, capsys, options):
    assert main(["classify", "prepare", "-o", str(tmp_path / "out"), "--low-resource", "nowhere", *options]) == 2
    assert options[0] in (said := capsys.readouterr().err)
    assert "nowhere" not in said
