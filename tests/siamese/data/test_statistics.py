"""Tables of a data directory's sentences and classes."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from fairseq_xl.siamese.data.directory import DataDirectory
from fairseq_xl.siamese.data.statistics import tables


def test_sizes_and_shares_are_those_of_the_texts(data_directory: Path) -> None:
    folder = DataDirectory(data_directory)
    sizes, shares = tables([folder])
    assert [tuple(row[:3]) for row in sizes.rows] == [
        ("te", "train", "48"),
        ("te", "valid", "16"),
        ("te", "test", "16"),
        ("en", "train", "200"),
    ]
    texts = folder.corpus("train", "low").texts
    assert sizes.rows[0][3] == f"{np.mean([len(text.split()) for text in texts]):.1f}"
    assert sizes.rows[0][4] == f"{np.mean([len(text) for text in texts]):.1f}"
    assert [list(row) for row in shares.rows] == [["te", "50.0", "50.0"], ["en", "50.0", "50.0"]]


def test_a_language_of_two_folders_stands_once(data_directory: Path) -> None:
    once, twice = ([table.rows for table in tables([DataDirectory(data_directory)] * n)] for n in (1, 2))
    assert once == twice
