"""Folds of a data directory, and what is none."""

from __future__ import annotations

import numpy as np
import pytest

from fairseq_xl.io.errors import InputError
from fairseq_xl.pairs.data.directory import DataDirectory


def test_folds_share_no_sentence(prepared):
    folder = DataDirectory(prepared)
    for fold in range(2):
        train, held_out = folder.fold(fold, held_out=False), folder.fold(fold, held_out=True)
        known = {side for row in train for side in (row.left, row.right)}
        assert held_out
        assert train
        assert not known & {side for row in held_out for side in (row.left, row.right)}
    with pytest.raises(InputError, match="fold 2 of 2: folds count from 0"):
        folder.fold(2, held_out=True)


def test_folders_that_are_none(tmp_path, prepared):
    with pytest.raises(InputError, match=r"manifest.json is missing: `fairseq-xl match prepare` makes"):
        DataDirectory(tmp_path)
    (tmp_path / "manifest.json").write_text("{")
    with pytest.raises(InputError, match="is damaged"):
        DataDirectory(tmp_path)
    (tmp_path / "manifest.json").write_text('{"version": 0}')
    with pytest.raises(InputError, match="has version 0"):
        DataDirectory(tmp_path)
    for name in ("manifest.json", "dict.txt"):
        (tmp_path / name).write_bytes((prepared / name).read_bytes())
    with pytest.raises(InputError, match=r"vectors.npy is missing"):
        DataDirectory(tmp_path).vectors()
    np.save(tmp_path / "vectors.npy", np.zeros((3, 2), dtype=np.float32))
    with pytest.raises(InputError, match=r"does not fit dict.txt"):
        DataDirectory(tmp_path).vectors()
    with pytest.raises(InputError, match="has no split valid"):
        DataDirectory(tmp_path).rows("valid")
