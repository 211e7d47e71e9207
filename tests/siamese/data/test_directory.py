"""What is no data directory."""

from __future__ import annotations

import shutil

import pytest

from fairseq_xl.io.errors import InputError
from fairseq_xl.siamese.data.directory import DataDirectory


def test_no_folder(tmp_path):
    with pytest.raises(InputError, match="prepare` makes such a folder"):
        DataDirectory(tmp_path)
    (tmp_path / "manifest.json").write_text('{"version": 0}')
    with pytest.raises(InputError, match="has version 0"):
        DataDirectory(tmp_path)


@pytest.mark.parametrize("vectors", [3, {"dim": "wide"}])
def test_a_damaged_size_of_vectors(data_directory, monkeypatch, vectors):
    folder = DataDirectory(data_directory)
    monkeypatch.setitem(folder.manifest, "vectors", vectors)
    with pytest.raises(InputError, match=r"manifest\.json is damaged \(its 'vectors'\)"):
        folder.vector_dim  # noqa: B018 - a property that reads


@pytest.mark.parametrize("suffix", ["bin", "idx"])
def test_half_of_the_data(data_directory, tmp_path, suffix):
    folder = tmp_path / "data"
    shutil.copytree(data_directory, folder)
    (folder / f"train.low.{suffix}").unlink()
    with pytest.raises(InputError, match=r"train\.low\.bin is (missing and|not of)"):
        DataDirectory(folder).corpus("train", "low")
