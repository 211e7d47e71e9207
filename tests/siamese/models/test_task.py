"""Which pairs the task may draw of what a data directory has."""

from __future__ import annotations

import pytest

from fairseq_xl.io.errors import InputError
from fairseq_xl.siamese.data.directory import DataDirectory
from fairseq_xl.siamese.models.task import pair_kinds


def test_kinds_of_pairs(data_directory, labelled, tmp_path):
    folder = DataDirectory(data_directory)
    assert pair_kinds(None, folder) == ["low-high"]
    assert pair_kinds("high-low+low-low", folder) == ["high-low", "low-low"]
    with pytest.raises(InputError, match="'low' is none of low-low, low-high"):
        pair_kinds("low", folder)
    for stale in data_directory.glob("train.low.*"):
        (tmp_path / stale.name).write_bytes(stale.read_bytes())
    (tmp_path / "manifest.json").write_bytes((data_directory / "manifest.json").read_bytes())
    assert pair_kinds(None, DataDirectory(tmp_path)) == ["low-low"]
    with pytest.raises(InputError, match="has no high-resource language"):
        pair_kinds("low-high", DataDirectory(tmp_path))
